//go:build unix

package queue_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/database/open"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// A child is this test binary run as a node of its own.
const (
	childURL   = "LANE_CHILD_URL"
	childLease = "LANE_CHILD_LEASE"
	childName  = "LANE_CHILD_NAME"
)

// childExpiry is how long after its last heartbeat a child is dead to the others.
const childExpiry = 2 * time.Second

// TestChild is a node that writes what it handles into the table sink. It is
// the whole of a child process, and nothing in any other.
func TestChild(t *testing.T) {
	url := os.Getenv(childURL)
	if url == "" {
		return
	}
	db, err := open.Open(t.Context(), url)
	require.NoError(t, err)
	require.NoError(t, queue.SetExpiry(t.Context(), db, childExpiry))
	d, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	lease, err := time.ParseDuration(os.Getenv(childLease))
	require.NoError(t, err)
	q := newQueue(t, db, queue.Options{
		Logger: quiet, Lease: lease,
		Handle: func(ctx context.Context, it queue.Job) queue.Outcome {
			if rand.IntN(20) == 0 {
				return queue.Outcome{Result: queue.Retry, After: time.Millisecond}
			}
			err := d.Write(ctx, func(tx *database.Tx) error {
				_, err := tx.ExecContext(t.Context(), `INSERT INTO sink (node, key, n) VALUES ($1, $2, CAST($3 AS BIGINT))`,
					os.Getenv(childName), it.Key, it.Subject)
				return err
			})
			if err != nil {
				return queue.Outcome{Result: queue.Retry, After: time.Millisecond}
			}
			return queue.Outcome{}
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends with the parent, however that ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	_, _ = fmt.Println("running")
	require.NoError(t, q.Run(ctx))
}

type child struct {
	*exec.Cmd
	name string
}

var nodes = make(chan string)

func init() {
	go func() {
		for i := 1; ; i++ {
			nodes <- fmt.Sprintf("node%d", i)
		}
	}()
}

// spawn starts a node in another process.
func spawn(t *testing.T, url string, lease time.Duration) child {
	t.Helper()
	name := <-nodes
	cmd, lines := testkit.Child(t, "TestChild", "running", childURL+"="+url, childLease+"="+lease.String(), childName+"="+name)
	go func() {
		for lines.Scan() { // so that it can continue
		}
	}()
	return child{cmd, name}
}

func (c child) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, c.Process.Kill())
	_ = c.Wait()
}

// ledger is the sink of the children.
type ledger struct {
	*sqlx.DB
	q    *queue.Queue
	keys int
	put  int // per key
}

func newLedger(t *testing.T, url string, keys int) *ledger {
	t.Helper()
	db := testkit.Open(t, url)
	q := newQueue(t, db, queue.Options{Handle: done(&sink{})}) // only to put
	id := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if db.DriverName() == "postgres" {
		id = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
	}
	db.MustExec(`CREATE TABLE sink (id ` + id + `, node TEXT, key TEXT, n BIGINT)`)
	return &ledger{DB: db, q: q, keys: keys}
}

// add queues n more jobs for each key.
func (l *ledger) add(t *testing.T, n int) {
	t.Helper()
	var es []queue.JobArgs
	for range n {
		l.put++
		for k := range l.keys {
			es = append(es, queue.JobArgs{Subscriber: "c", Key: fmt.Sprintf("k%d", k), Subject: fmt.Sprint(l.put)})
		}
	}
	d, err := database.Of(t.Context(), l.DB)
	require.NoError(t, err)
	eventually(t, func() bool {
		err = d.Write(t.Context(), func(tx *database.Tx) error { return l.q.PutTx(t.Context(), tx, es...) })
		return !isBusy(err)
	})
	require.NoError(t, err)
	l.q.Notify()
}

// isBusy says that another process has SQLite's lock, and has stood still with
// it for longer than is waited.
func isBusy(err error) bool {
	var lite interface{ Code() int }
	return errors.As(err, &lite) && lite.Code()&0xff == 5 // SQLITE_BUSY
}

// distinct is how many jobs were handled, each counted once.
func (l *ledger) distinct(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, l.Get(&n, `SELECT count(*) FROM (SELECT DISTINCT key, n FROM sink) s`))
	return n
}

func (l *ledger) by(t *testing.T, c child) (n int) {
	t.Helper()
	require.NoError(t, l.Get(&n, `SELECT count(*) FROM sink WHERE node = $1`, c.name))
	return n
}

// reach adds jobs until a node has handled one: another may take all that is
// there.
func (l *ledger) reach(t *testing.T, c child) {
	t.Helper()
	before := l.by(t, c)
	eventually(t, func() bool {
		if l.distinct(t) == l.keys*l.put {
			l.add(t, 5)
		}
		return l.by(t, c) > before
	})
}

// complete waits until everything was handled, and requires that no key has
// lost a job or seen one for the first time after a later one. It prints
// what was counted, and what was done to the queue.
func (l *ledger) complete(t *testing.T, what string) {
	t.Helper()
	require.Eventually(t, func() bool {
		s, err := l.q.Stats(t.Context())
		require.NoError(t, err)
		return l.distinct(t) == l.keys*l.put && isIdle(s)
	}, 2*timeout, 10*time.Millisecond)
	var rows []struct {
		Key string
		N   int
	}
	require.NoError(t, l.Select(&rows, `SELECT key, n FROM sink ORDER BY id`))
	last := map[string]int{}
	for _, r := range rows {
		require.LessOrEqual(t, r.N, last[r.Key]+1, "key %s", r.Key)
		last[r.Key] = max(last[r.Key], r.N)
	}
	promise(t, what, l.keys*l.put, len(rows)-l.keys*l.put, l.keys)
}

// promise prints the line that a fault loop ends with.
func promise(t *testing.T, what string, jobs, repeated, keys int) {
	t.Helper()
	t.Logf("promise: %s, %s: %d jobs, each handled at least once (%d repeated) and in order in each of %d keys",
		t.Name(), what, jobs, repeated, keys)
}

// TestKill kills one of two nodes again and again.
func TestKill(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		l := newLedger(t, url, 20)
		const lease = 2 * time.Second
		pair := []child{spawn(t, url, lease), spawn(t, url, lease)}
		rounds := testkit.Rounds(3)
		for round := range rounds {
			before := l.distinct(t)
			l.add(t, 20)
			eventually(t, func() bool { return l.distinct(t) > before+rand.IntN(200) })
			pair[round%2].kill(t)
			pair[round%2] = spawn(t, url, lease)
		}
		l.complete(t, fmt.Sprintf("one of two processes killed %d times", rounds))
	})
}

// TestFreeze stops a node for longer than its leases last, and lets it continue.
func TestFreeze(t *testing.T) {
	t.Parallel()
	url := testkit.PostgresURL(t)
	l := newLedger(t, url, 20)
	const lease = time.Second
	frozen, other := spawn(t, url, lease), spawn(t, url, lease)
	rounds := testkit.Rounds(3)
	for range rounds {
		l.reach(t, frozen)
		l.add(t, 20)
		require.NoError(t, frozen.Process.Signal(syscall.SIGSTOP))
		l.add(t, 5)
		require.Eventually(t, func() bool { return l.distinct(t) == l.keys*l.put }, timeout, 10*time.Millisecond,
			"the other node takes over")
		require.Positive(t, l.by(t, other))
		require.NoError(t, frozen.Process.Signal(syscall.SIGCONT))
	}
	l.reach(t, frozen)
	l.complete(t, fmt.Sprintf("one of two processes frozen %d times for longer than a lease", rounds))
}

// TestTakeover kills a node that holds long leases: they are void when it has
// not been heard of for as long as a node counts as alive.
func TestTakeover(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		l := newLedger(t, url, 20)
		const lease = 10 * time.Minute
		c := spawn(t, url, lease)
		l.add(t, 50)
		eventually(t, func() bool { return l.by(t, c) > 20 })
		c.kill(t)
		killed := time.Now()
		if l.distinct(t) == l.keys*l.put {
			l.add(t, 1) // it was too quick to be killed at work
		}
		spawn(t, url, lease)
		l.complete(t, "the only process killed, and another one started")
		t.Logf("taken over and finished after %s", time.Since(killed).Round(time.Millisecond))
	})
}

// TestExclusive takes over at once when nobody else can be there.
func TestExclusive(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		q := newQueue(t, db, queue.Options{Exclusive: true, Handle: done(&s)})
		put(t, db, q, jobArgs("c", 3, 9)...)
		start(t, newQueue(t, db, queue.Options{Name: "other", Handle: done(&s)}))
		stop := start(t, q)
		idle(t, q)
		stop()
		hour := time.Hour.Microseconds()
		in(t, db, func(tx *database.Tx) error { // what a killed process leaves
			_, err := tx.ExecContext(t.Context(), `UPDATE queue_partition SET holder = 'dead', tail = head + 1, ready_us = 9000000000000000 + $1`, hour)
			return err
		})
		db.MustExec(`INSERT INTO queue_job (partition_id, seq, subject) SELECT id, tail, 'left' FROM queue_partition`)
		put(t, db, q, jobArgs("c", 3, 9)...)
		start(t, q)
		s.await(t, 9+3+9)
		idle(t, q)
		require.Equal(t, "left", s.of("c/k1")[3])
	})
}

// TestJoinAgain ends the connection on which a node begins, as the database does
// when the node stands still.
func TestJoinAgain(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.PostgresURL(t))
	var s sink
	q := newQueue(t, db, queue.Options{Exclusive: true, Logger: quiet, Handle: done(&s)})
	put(t, db, q, jobArgs("c", 1, 1)...)
	leased := db.MustBegin()
	leased.MustExec(`LOCK TABLE queue_node`)
	start(t, q)
	eventually(t, func() bool { // it waits for the lock
		var ended int
		require.NoError(t, db.Get(&ended, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`))
		return ended == 1
	})
	require.NoError(t, leased.Rollback())
	s.await(t, 1)
}

// TestTwoNodes has two queues on two handles of one database.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		var s sink
		one, two := testkit.Open(t, url), testkit.Open(t, url)
		for _, db := range []*sqlx.DB{one, two} {
			require.NoError(t, queue.SetExpiry(t.Context(), db, 24*time.Hour)) // both live
		}
		a := newQueue(t, one, queue.Options{Handle: done(&s)})
		b := newQueue(t, two, queue.Options{Handle: done(&s)})
		start(t, a)
		start(t, b)
		const keys, n = 30, 100
		es := jobArgs("c", keys, keys*n)
		for i := 0; i < len(es); i += 60 {
			put(t, one, a, es[i:i+30]...)
			put(t, two, b, es[i+30:i+60]...)
		}
		s.await(t, keys*n)
		testkit.Until(t, []*testsignal.Signal{a.Commits(), b.Commits()}, func() bool {
			st, err := a.Stats(t.Context())
			require.NoError(t, err)
			return isIdle(st)
		})
		s.inOrder(t, keys, n)
		require.Zero(t, a.Fenced()+b.Fenced())
	})
}

// TestDatabaseRestart crashes the server under a node at work.
func TestDatabaseRestart(t *testing.T) {
	t.Parallel()
	server := testkit.PostgresServer(t, testkit.PostgresOptions{Durable: true})
	db := testkit.Open(t, server.Database(t))
	var s, completed sink
	const lease = 10 * time.Minute
	q := newQueue(t, db, queue.Options{Logger: quiet, Lease: lease, Handle: done(&s), OnComplete: func(outs []queue.Outcome) {
		for _, out := range outs {
			completed.add(out.Job)
		}
	}})
	start(t, q)
	const keys = 20
	total := 0
	rounds := testkit.Rounds(3)
	for round := range rounds {
		var es []queue.JobArgs
		for i := range 100 * keys {
			es = append(es, queue.JobArgs{Subscriber: "c", Key: fmt.Sprintf("k%d", i%keys), Subject: fmt.Sprint(100*round + i/keys + 1)})
		}
		total += len(es)
		put(t, db, q, es...)
		s.await(t, total-len(es)+1+rand.IntN(1000))
		server.Kill(t)
		server.Start(t)
		testkit.UntilCommitted(t, db, func() bool { // at the latest after a heartbeat
			stats, err := q.Stats(t.Context()) // a pooled connection may be dead
			return err == nil && isIdle(stats)
		}, "sooner than leases end")
	}
	for k := range keys {
		last := 0
		for _, subject := range s.of(fmt.Sprintf("c/k%d", k)) {
			var n int
			_, err := fmt.Sscan(subject, &n)
			require.NoError(t, err)
			require.LessOrEqual(t, n, last+1)
			last = max(last, n)
		}
		require.Equal(t, total/keys, last)
	}
	require.LessOrEqual(t, completed.count(), total, "nothing is recorded twice")
	promise(t, fmt.Sprintf("PostgreSQL crashed %d times", rounds), total, s.count()-total, keys)
}
