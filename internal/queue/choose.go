package queue

import (
	"context"
	"time"
)

const (
	scanLimit  = 512 // subscribers looked at by one query
	claimLimit = 64  // subscribers served by one claim
)

// candidate is a subscriber with partitions that are not idle.
type candidate struct {
	Subscriber string
	Due        int64 // when its first partition is ready
	Next       int64 // when its first partition that is not ready will be; 0: none
	Paused     int64 // until when it is paused; 0: it is not
	Now        int64
	Review     bool // successors of emptied partitions wait to be looked at

	partitions int // how many to claim
}

// scan returns the next page of subscribers that have work. It visits each by
// an index probe: how much work waits behind one costs nothing.
func (c *claimer) scan(ctx context.Context) ([]candidate, error) {
	var all []candidate
	if err := c.db.SelectContext(ctx, &all, c.scanText(), c.o.Name, c.after, scanLimit); err != nil {
		return nil, err
	}
	c.after = ""
	if len(all) == scanLimit {
		c.after = all[len(all)-1].Subscriber
	}
	return all, nil
}

// choose shares the free workers among the subscribers that have ready partitions,
// beginning with another one each time, and says when to look again.
func (c *claimer) choose(all []candidate) ([]candidate, time.Duration) {
	wait := idleInterval
	if c.after != "" {
		wait = 0 // the next page
	}
	later := func(at, now int64) {
		wait = min(wait, time.Duration(max(at-now, 1000))*time.Microsecond)
	}
	c.slots.mu.Lock()
	defer c.slots.mu.Unlock()
	c.slots.short = false
	if len(c.slots.waiting) > 0 {
		wait = min(wait, slowAfter)
	}
	var ready []candidate
	for _, x := range all {
		if c.o.Serves != nil && !c.o.Serves(x.Subscriber) {
			continue
		}
		if x.Next > 0 && x.Paused <= x.Now {
			later(x.Next, x.Now)
		}
		switch room := c.slots.room(x.Subscriber); {
		case x.Due == 0 || x.Due > x.Now:
		case x.Paused > x.Now:
			later(x.Paused, x.Now)
		case room <= 0:
			c.slots.short = true
		default:
			x.partitions = room
			ready = append(ready, x)
		}
	}
	if len(ready) == 0 {
		return nil, wait
	}
	c.turn++
	start := c.turn % len(ready)
	chosen := append(ready[start:len(ready):len(ready)], ready[:start]...)
	budget := c.slots.budget()
	if len(chosen) > min(claimLimit, budget) {
		chosen = chosen[:min(claimLimit, budget)]
		c.turn += len(chosen) - 1
	}
	c.cut = len(chosen) < len(ready)
	share := max(budget/max(len(chosen), 1), 1)
	for i := range chosen {
		chosen[i].partitions = min(chosen[i].partitions, share)
		if chosen[i].Paused > 0 {
			chosen[i].partitions = 1
		}
	}
	return chosen, wait
}
