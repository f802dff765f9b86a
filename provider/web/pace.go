package web

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Pace is how fast a line writes. WhatsApp bans accounts that write like
// machines, above all to people who do not know them: the defaults lower that
// risk, and nothing takes it away. Zero members are the defaults; a negative
// one means no limit.
type Pace struct {
	// Messages a minute, and how many may go out at once after a pause.
	// 0: 60 and 20.
	Messages, Burst int
	// Strangers an hour: people with whom the line has no keys yet, and how
	// many at once. 0: 60 and 5.
	Strangers, StrangersBurst int
}

func (p Pace) withDefaults() Pace {
	set := func(n *int, to int) {
		if *n == 0 {
			*n = to
		}
	}
	set(&p.Messages, 60)
	set(&p.Burst, 20)
	set(&p.Strangers, 60)
	set(&p.StrangersBurst, 5)
	return p
}

// pacer keeps the pace of a line.
type pacer struct {
	all, strangers *rate.Limiter
	now            func() time.Time
	locked         *until
}

// until is a time that may move.
type until struct {
	mu sync.Mutex
	at time.Time
}

func newPacer(p Pace, now func() time.Time) pacer {
	limiter := func(n, burst int, per time.Duration) *rate.Limiter {
		if n < 0 {
			return rate.NewLimiter(rate.Inf, 1)
		}
		return rate.NewLimiter(rate.Every(per/time.Duration(n)), max(burst, 1))
	}
	return pacer{
		all: limiter(p.Messages, p.Burst, time.Minute), strangers: limiter(p.Strangers, p.StrangersBurst, time.Hour),
		now: now, locked: &until{},
	}
}

// turn takes the turn of a message, or says how long to wait for it.
func (p pacer) turn(stranger bool) (wait time.Duration) {
	now := p.now()
	all := p.all.ReserveN(now, 1)
	wait = all.DelayFrom(now)
	if stranger {
		s := p.strangers.ReserveN(now, 1)
		if wait = max(wait, s.DelayFrom(now)); wait > 0 {
			s.CancelAt(now)
		}
	}
	if wait > 0 {
		all.CancelAt(now)
	}
	return wait
}

// lock keeps the line from writing to strangers until then; zero: not any more.
func (p pacer) lock(at time.Time) {
	p.locked.mu.Lock()
	defer p.locked.mu.Unlock()
	p.locked.at = at
}

func (p pacer) untilUnlocked() time.Duration {
	p.locked.mu.Lock()
	defer p.locked.mu.Unlock()
	return max(p.locked.at.Sub(p.now()), 0)
}
