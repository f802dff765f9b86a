package queue

import (
	"context"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// JobArgs is work to be queued.
type JobArgs struct {
	Subscriber string // whose job it is
	Key        string // jobs of one subscriber and key are worked on in the order of their commits
	Subject    string // id of the caller's row; of a paused subscriber the lowest is tried: let ids rise with time

	// Merged is a key that has become one with Key: this is no work, and has no
	// Subject. What was put before under either keeps its order and is worked on
	// before what is put under either later, all of which goes to Key. The caller
	// holds the locks of both keys. The numbers of the partition of Key continue behind
	// those of both.
	Merged string

	// Traceparent is what the work follows from: Handle's context has it
	// (span.Of). "": that of the context of PutTx.
	Traceparent string
}

// Job is a piece of work in its partition.
type Job struct {
	JobArgs
	Seq     int64     // position in its partition, from 1; it rises, by one unless keys have become one
	Fence   int64     // number of the claim: it rises with every claim until the job is finished
	Attempt int       // failed attempts so far
	Since   time.Time // first failure, zero before it
	Data    any       // what Options.Load put here
}

// Result is what becomes of a job after an attempt.
type Result int

// The results.
const (
	Done        Result = iota // finished, for good or ill: the partition continues
	Retry                     // stays at the head; the partition waits After; counts as an attempt
	Park                      // like Retry, but in a partition of its own: those behind it pass; an OpenCircuit takes it back if none has
	OpenCircuit               // the whole subscriber waits After, then is tried with one job, mostly the oldest, until one is Done; no attempt is counted
	Snooze                    // put back untouched, ready at once: this node is draining; Complete does not see it
)

// Outcome is the result of an attempt.
type Outcome struct {
	Job    Job
	Result Result
	After  time.Duration // for Retry, Park, OpenCircuit
	Data   any           // for Options.Complete
}

// Options configures a [Queue]. Name and Handle are required.
type Options struct {
	Name string // separates queues that share a database

	// Load fills Data of jobs before they are handled, outside of any
	// transaction. nil: nothing to load.
	Load func(ctx context.Context, jobs []*Job) error
	// Handle makes one attempt. ctx ends before the lease does, which is renewed
	// while Handle runs, and when Drain has passed. A panic is a Retry. Jobs of
	// one partition are handled one after the other. The Job of its outcome need not
	// be set.
	Handle func(ctx context.Context, it Job) Outcome
	// Complete records outcomes in the transaction that finishes them. The
	// transaction is undone, and begun again without them, when some of them
	// have lost their lease. When Complete fails, they are handled again later.
	// It may run more than once before a commit. It may take a
	// OpenCircuit back, of a subscriber that was resumed since the attempt began, by
	// making its Result a Snooze: the job is tried again at once. To know that
	// for sure it locks a row that is changed together with ResumeTx, and before
	// that. nil: nothing to record.
	Complete func(ctx context.Context, tx *database.Tx, outs []Outcome) error
	// OnComplete is called after that commit. It must not block.
	OnComplete func(outs []Outcome)

	// Serves reports whether this node works for a subscriber at present. Others
	// may; no other node takes what is left. It is asked often, and must not
	// block. After it changed its mind call [Queue.Notify]. nil: for all.
	Serves func(subscriber string) bool

	Workers   int           // jobs handled at once on this node; those that take long do not count, up to four times as many; 0: 64
	Cap       int           // partitions in flight per subscriber and node, fewer before it has finished some; 0: 16
	Run       int           // jobs taken with one claim of a partition; 0: 16
	Lease     time.Duration // 0: 60 s
	Timeout   time.Duration // of one call of Handle: its ctx ends with a context.DeadlineExceeded as its cause; 0: none
	Drain     time.Duration // how long work in hand may continue after Run's ctx ended; 0: 15 s
	Exclusive bool          // no other process uses this database: what others held is free at once
	Logger    *slog.Logger  // nil: slog.Default()

	// Now is the clock by which jobs wait and leases end. nil: the database's,
	// on which all nodes agree. A clock that leaps must do so while nothing is
	// in hand, or leases end; [Queue.Notify] makes the queue look at it.
	Now func() time.Time
}
