package queue

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// run is a claimed partition and the jobs taken with it.
type run struct {
	partition, epoch int64
	subscriber, key  string
	parked           int64
	head, tail       int64
	attempt          int
	since            int64
	probe            bool // of a paused subscriber
	jobs             []*Job
	pauses           int // of the subscriber when it was claimed
	ctx              context.Context
	cancel           context.CancelCauseFunc
	expire           *time.Timer
	limit            *time.Timer // of the handler at work
	until            time.Time   // the handler must end before; slots.mu
	renewed          time.Time   // when the lease was last known to be taken; slots.mu
	outs             []Outcome
	completion                     // what outs mean
	counted          bool          // in the pausing of its subscriber
	started          time.Time     // when it got a worker; slots.mu
	slow             bool          // it gave the worker away since; slots.mu
	left             bool          // it has handled what it could; slots.mu
	again            time.Duration // the last wait before finishing it again
}

func (r *run) add(seq int64, subject, parent string) {
	it := &Job{JobArgs: JobArgs{Subscriber: r.subscriber, Key: r.key, Subject: subject, Traceparent: parent}, Seq: seq, Fence: r.epoch}
	r.jobs = append(r.jobs, it)
}

// inOrder sorts the jobs when all are there. What failed before is the first.
func (r *run) inOrder() {
	slices.SortFunc(r.jobs, func(a, b *Job) int { return cmp.Compare(a.Seq, b.Seq) })
	if len(r.jobs) > 0 {
		r.jobs[0].Attempt, r.jobs[0].Since = r.attempt, database.Time(r.since)
	}
}

func (r *run) end() {
	r.expire.Stop()
	r.cancel(nil)
}

// bound ends the run when the next handler takes too long. The timer is used
// again and again, which costs less than a context for each.
func (r *run) bound(d time.Duration) {
	switch {
	case d == 0:
	case r.limit == nil:
		r.limit = time.AfterFunc(d, func() { r.cancel(errTimeout) })
	default:
		r.limit.Reset(d)
	}
}

func (r *run) unbound() {
	if r.limit != nil {
		r.limit.Stop()
	}
}

// completion is what becomes of a partition after a run.
type completion struct {
	upTo   int64         // head: the last job that is finished, or parked
	tries  int           // failed attempts of what is the head then
	first  int64         // its first failure; -1: now
	wait   time.Duration // until it may be claimed
	pause  time.Duration // of the subscriber; 0: none
	worked bool          // the last job was Done

	parks       bool          // the job at upTo goes to a partition of its own, with …
	failed      int           // … its failed attempts …
	firstFailed int64         // … its first failure; -1: now …
	pending     time.Duration // … and its wait
}

// untouched hands a partition back as it was claimed.
func (r *run) untouched(wait time.Duration) completion {
	return completion{upTo: r.head, tries: r.attempt, first: r.since, wait: wait}
}

// completed is what the outcomes mean. Only the last may be other than Done.
func (r *run) completed() completion {
	s := r.untouched(0)
	if len(r.jobs) == 0 { // never seen; it must not be claimed in circles
		s.wait = failedWait
	}
	for _, out := range r.outs {
		switch {
		case out.Result == Done:
			s.upTo, s.tries, s.first, s.worked = s.upTo+1, 0, 0, true
			continue
		case out.Result == Park && r.parked == 0:
			s.fail()
			s.parks, s.failed, s.firstFailed, s.pending = true, s.tries, s.first, out.After
			s.upTo, s.tries, s.first = s.upTo+1, 0, 0
		case out.Result == Retry, out.Result == Park:
			s.fail()
			s.wait = out.After
		case out.Result == OpenCircuit:
			s.pause = max(out.After, time.Millisecond)
		}
		s.worked = false
	}
	return s
}

func (s *completion) fail() {
	s.tries++
	if s.first == 0 {
		s.first = -1
	}
}

// recorded are the outcomes that Complete is to see.
func (r *run) recorded() []Outcome {
	if n := len(r.outs); n > 0 && r.outs[n-1].Result == Snooze {
		return r.outs[:n-1]
	}
	return r.outs
}
