package queue

import (
	"slices"
	"time"
)

// The node has Workers slots. Under load it claims ahead, so that a worker
// never waits for the database; and it lets no subscriber keep the slots for long.
const (
	firstCap  = 4                      // partitions in flight of a subscriber that has not finished any yet
	maxAhead  = 4                      // times Cap: partitions of a subscriber that may wait here
	aheadAll  = 2                      // times Workers: partitions of all that may wait here
	slowAfter = 250 * time.Millisecond // an attempt that takes longer gives its slot to others …
	maxSlow   = 4                      // … until there are so many times Workers of them
)

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

// start gives the slots to runs, in their order; those that find none wait.
// What is returned is to be worked on. mu is held.
func (n *node) start(runs []*run) (now []*run) {
	for _, r := range runs {
		c := n.subscribers[r.subscriber]
		if n.free <= 0 || c.partitions >= c.window {
			c.ahead++
			n.waiting = append(n.waiting, r)
			continue
		}
		n.occupy(c, r)
		now = append(now, r)
	}
	return now
}

func (n *node) occupy(c *subscriber, r *run) {
	c.partitions++
	n.free--
	r.started = time.Now()
}

// next takes the runs that wait and may start, and those that only have to be
// handed back. mu is held.
func (n *node) next() (now []*run) {
	n.waiting = slices.DeleteFunc(n.waiting, func(r *run) bool {
		c := n.subscribers[r.subscriber]
		back := n.stopping || c.pauses != r.pauses
		if !back && (n.free <= 0 || c.partitions >= c.window) {
			return false
		}
		c.ahead--
		n.occupy(c, r)
		now = append(now, r)
		return true
	})
	return now
}

// vacate is called when a run has handled what it could. mu is held.
func (n *node) vacate(c *subscriber, r *run) {
	c.partitions--
	c.left++
	if r.worked {
		c.window = min(c.window+1, n.o.Cap)
	}
	if r.slow {
		n.slow--
	} else {
		n.free++
	}
}

// passSlow takes the slots from attempts that take long: they wait for
// another program, and so do not work. mu is held.
func (n *node) passSlow(now time.Time) []*run {
	for _, r := range n.leased {
		if n.slow >= maxSlow*n.o.Workers {
			break
		}
		if !r.slow && !r.started.IsZero() && !r.left && now.Sub(r.started) > slowAfter {
			r.slow = true
			n.slow++
			n.free++
		}
	}
	return n.next()
}

// available reports whether to claim: while less than half of what may wait
// does, on a node that the others know to be alive, unless much waits to be
// finished. It asks to be told of a change otherwise.
func (n *node) available() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	for _, r := range n.passSlow(now) {
		go n.work(r)
	}
	unfinished := len(n.leased) - len(n.waiting) - n.slow - (n.o.Workers - n.free)
	n.short = n.tight() || unfinished >= 2*finishLimit
	return !n.short && n.living(now)
}

// busy reports that there is work for most workers, even if it is for few
// subscribers, and that it does not end now.
func (n *node) busy() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.waiting)-n.free > -n.o.Workers/2 && !n.stopping
}

// budget is how many partitions may be claimed. mu is held.
func (n *node) budget() int { return max(n.free+aheadAll*n.o.Workers-len(n.waiting), 0) }

// tight reports that a claim would be small. mu is held.
func (n *node) tight() bool { return n.budget() < max(aheadAll*n.o.Workers/2, 1) }

// room is how many more partitions of a subscriber may be claimed: as many as may be
// in flight, and about as many again as it finishes between two claims. So
// nothing of a slow subscriber is claimed ahead. mu is held.
func (n *node) room(name string) int {
	c := n.subscribers[name]
	switch {
	case c == nil:
		return min(firstCap, n.o.Cap)
	case c.pausing > 0:
		return 0
	}
	c.rate, c.left = max(c.left, c.rate/2), 0
	return c.window - c.partitions + min(2*c.rate, maxAhead*n.o.Cap) - c.ahead
}
