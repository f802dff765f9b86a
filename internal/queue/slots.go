package queue

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// A node has Options.Workers slots. Under load it claims ahead, so that a
// worker never waits for the database. No subscriber keeps the slots for long.
const (
	firstCap  = 4                      // partitions in flight of a subscriber that has not finished any yet
	maxAhead  = 4                      // times Cap: partitions of a subscriber that may wait here
	aheadAll  = 2                      // times Workers: partitions of all that may wait here
	slowAfter = 250 * time.Millisecond // an attempt that takes longer gives its slot to others …
	maxSlow   = 4                      // … until there are so many times Workers of them
)

// slots knows the runs that a node has in hand, the leases under which it has
// them, and which of the runs may work. It touches no database, and no other
// lock is taken while mu is held.
type slots struct {
	o     *Options
	claim chan struct{} // wakes the claimer

	mu          sync.Mutex
	leased      map[int64]*run // by partition, until finished
	subscribers map[string]*subscriber
	waiting     []*run // claimed ahead
	free        int    // workers
	slow        int    // attempts that take long, and need no worker
	short       bool   // the last claim left work because workers or caps were used up
	alive       time.Time
	working     sync.WaitGroup
	stopping    bool
	lost        bool // a run was dropped that the database still leases to this node
}

// lose notes that a run was dropped whose partition the database still leases to this
// node, and has the claimer free it.
func (s *slots) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = true
	notify(s.claim)
}

// takeLost reports whether that was noted since the last call.
func (s *slots) takeLost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := s.lost
	s.lost = false
	return lost
}

func newSlots(o *Options, claim chan struct{}) *slots {
	return &slots{o: o, claim: claim, free: o.Workers, leased: map[int64]*run{}, subscribers: map[string]*subscriber{}}
}

// subscriber is what a node knows of one that it works for.
type subscriber struct {
	runs       int // not finished
	partitions int // in flight: of runs, those that handle
	ahead      int // of runs, those that wait for a slot
	window     int // partitions that may be in flight: it grows to Cap with each that was finished
	left       int // runs that handled since the last look …
	rate       int // … and what that was, on the way down by halves
	pausing    int // pauses that are not in the database yet
	pauses     int // counts pauses: runs that began before the last one stop
}

// register adds claimed runs. From now on their leases are renewed.
func (s *slots) register(handling context.Context, runs []*run, deadline time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, r := range runs {
		c := s.subscribers[r.subscriber]
		if c == nil {
			c = &subscriber{window: min(firstCap, s.o.Cap)}
			s.subscribers[r.subscriber] = c
		}
		c.runs++
		s.working.Add(1)
		s.leased[r.partition] = r
		r.pauses = c.pauses
		r.renewed, r.until = now, deadline.Add(-s.margin())
		r.ctx, r.cancel = context.WithCancelCause(handling)
		r.expire = time.AfterFunc(time.Until(r.until), func() { r.cancel(errLeaseLost) })
	}
}

// start gives the slots to runs, in their order, and returns those that have
// one. The others wait.
func (s *slots) start(runs []*run) (now []*run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range runs {
		c := s.subscribers[r.subscriber]
		if s.free <= 0 || c.partitions >= c.window {
			c.ahead++
			s.waiting = append(s.waiting, r)
			continue
		}
		s.occupy(c, r)
		now = append(now, r)
	}
	return now
}

func (s *slots) occupy(c *subscriber, r *run) {
	c.partitions++
	s.free--
	r.started = time.Now()
}

// next takes the runs that wait and may start, and those that only have to be
// handed back. mu is held.
func (s *slots) next() (now []*run) {
	s.waiting = slices.DeleteFunc(s.waiting, func(r *run) bool {
		c := s.subscribers[r.subscriber]
		back := s.stopping || c.pauses != r.pauses
		if !back && (s.free <= 0 || c.partitions >= c.window) {
			return false
		}
		c.ahead--
		s.occupy(c, r)
		now = append(now, r)
		return true
	})
	return now
}

// mayHandle is asked before each attempt: the node may have been frozen since
// the last one.
func (s *slots) mayHandle(r *run) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	return !s.stopping && r.ctx.Err() == nil && now.Before(r.until) && s.living(now) &&
		s.subscribers[r.subscriber].pauses == r.pauses
}

// leave frees the worker and the subscriber's place of a run that has handled
// what it could, and returns the runs that start now.
func (s *slots) leave(r *run) []*run {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.subscribers[r.subscriber]
	r.left = true
	s.vacate(c, r)
	if r.pause > 0 {
		r.counted = true
		c.pausing++
		c.pauses++
	}
	now := s.next()
	if s.short && !s.tight() {
		s.short = false
		notify(s.claim)
	}
	return now
}

// vacate frees the slot of a run. mu is held.
func (s *slots) vacate(c *subscriber, r *run) {
	c.partitions--
	c.left++
	if r.worked {
		c.window = min(c.window+1, s.o.Cap)
	}
	if r.slow {
		s.slow--
	} else {
		s.free++
	}
}

// drop forgets runs that are finished or lost.
func (s *slots) drop(runs ...*run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range runs {
		if s.leased[r.partition] == r { // the partition may be claimed again already
			delete(s.leased, r.partition)
		}
		c := s.subscribers[r.subscriber]
		if r.counted {
			c.pausing--
			notify(s.claim) // the claimer reads the pause now, and waits for its end
		}
		if c.runs--; c.runs == 0 {
			delete(s.subscribers, r.subscriber)
		}
		s.working.Done()
	}
	if s.short {
		s.short = false
		notify(s.claim)
	}
}

// passSlow takes the slots from attempts that take long: they wait for
// another program, and so do not work. mu is held.
func (s *slots) passSlow(now time.Time) []*run {
	for _, r := range s.leased {
		if s.slow >= maxSlow*s.o.Workers {
			break
		}
		if !r.slow && !r.started.IsZero() && !r.left && now.Sub(r.started) > slowAfter {
			r.slow = true
			s.slow++
			s.free++
		}
	}
	return s.next()
}

// available reports whether to claim: less than half of the runs that may wait
// do, the other nodes know that this one is alive, and few runs wait to be
// finished. When it is false, the claimer is woken after a change. The runs
// that start now are returned, too.
func (s *slots) available() (now []*run, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Now()
	now = s.passSlow(at)
	unfinished := len(s.leased) - len(s.waiting) - s.slow - (s.o.Workers - s.free)
	s.short = s.tight() || unfinished >= 2*finishLimit
	return now, !s.short && s.living(at)
}

// stop lets no run start any more, and returns those that only have to be
// handed back.
func (s *slots) stop() []*run {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	return s.next()
}

// busy reports that most workers have something to do, even if it is for few
// subscribers, and that the node does not stop.
func (s *slots) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)-s.free > -s.o.Workers/2 && !s.stopping
}

// budget is how many partitions may be claimed. mu is held.
func (s *slots) budget() int { return max(s.free+aheadAll*s.o.Workers-len(s.waiting), 0) }

// tight reports that a claim would be small. mu is held.
func (s *slots) tight() bool { return s.budget() < max(aheadAll*s.o.Workers/2, 1) }

// room is how many more partitions of a subscriber may be claimed: as many as may be
// in flight, and about as many again as it finishes between two claims. So
// nothing of a slow subscriber is claimed ahead. mu is held.
func (s *slots) room(name string) int {
	c := s.subscribers[name]
	switch {
	case c == nil:
		return min(firstCap, s.o.Cap)
	case c.pausing > 0:
		return 0
	}
	c.rate, c.left = max(c.left, c.rate/2), 0
	return c.window - c.partitions + min(2*c.rate, maxAhead*s.o.Cap) - c.ahead
}

// margin is how long before its lease a handler must end.
func (s *slots) margin() time.Duration { return min(s.o.Lease/8, 5*time.Second) }

// markAlive notes until when the other nodes take this one for alive.
func (s *slots) markAlive(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive = until
}

// living reports that the other nodes take this one for alive. mu is held.
func (s *slots) living(now time.Time) bool { return s.o.Exclusive || now.Before(s.alive) }

// aging returns the runs whose lease is to be renewed.
func (s *slots) aging(now time.Time) (old []*run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.leased {
		if now.Sub(r.renewed) > s.o.Lease/8 {
			old = append(old, r)
		}
	}
	return old
}

// prolong notes which of the old leases are renewed since started: those of
// the partitions of ids. The runs of the others end.
func (s *slots) prolong(old []*run, ids []int64, started time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	renewed := make(map[int64]bool, len(ids))
	for _, id := range ids {
		renewed[id] = true
	}
	for _, r := range old {
		switch {
		case renewed[r.partition]:
			r.renewed, r.until = started, started.Add(s.o.Lease-s.margin())
			r.expire.Reset(time.Until(r.until))
		default: // lost, or finished in the meantime
			r.cancel(errLeaseLost)
		}
	}
}

// expired reports that the lease of a run may have ended.
func (s *slots) expired(r *run) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(r.renewed) > s.o.Lease
}

// cancelAll ends all work, and returns how many partitions it was in.
func (s *slots) cancelAll() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.leased {
		r.cancel(errLeaseLost)
	}
	return len(s.leased)
}

// partitions returns the ids of the partitions that have a run here.
func (s *slots) partitions() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.leased))
}
