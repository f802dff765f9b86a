package web

import (
	"sync"
	"time"
)

// Rates is how fast a line writes. WhatsApp bans accounts that write like
// machines, above all to people who do not know them: the defaults lower that
// risk, and nothing takes it away. Zero members are the defaults; a negative
// one means no limit.
type Rates struct {
	// Messages a minute, and how many may go out at once after a pause.
	// 0: 60 and 20.
	Messages, Burst int
	// Outreach an hour: people with whom the line has no keys yet, and how
	// many at once. 0: 60 and 5.
	Outreach, OutreachBurst int
}

func (p Rates) withDefaults() Rates {
	set := func(n *int, to int) {
		if *n == 0 {
			*n = to
		}
	}
	set(&p.Messages, 60)
	set(&p.Burst, 20)
	set(&p.Outreach, 60)
	set(&p.OutreachBurst, 5)
	return p
}

// bucket lets a burst go at once, and then one every so often. All that it
// remembers is one time, which is as easily stored.
type bucket struct {
	interval time.Duration // 0: no limit
	burst    int
	whole    time.Time // when a whole burst may go again
}

func newBucket(n, burst int, per time.Duration) bucket {
	if n < 0 {
		return bucket{}
	}
	return bucket{interval: per / time.Duration(n), burst: max(burst, 1)}
}

// next is when one more may go behind others that wait. It may be past.
func (b *bucket) next(now time.Time, others int) time.Time {
	return latest(b.whole, now).Add(time.Duration(others-b.burst+1) * b.interval)
}

// take lets one go.
func (b *bucket) take(at time.Time) {
	if b.interval == 0 {
		return
	}
	b.whole = latest(b.whole, at).Add(b.interval)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// rateLimiter limits the rate of a line.
type rateLimiter struct {
	now func() time.Time

	mu            sync.Mutex
	all, outreach bucket
	locked        time.Time // until when the network keeps the line from strangers
}

func newRateLimiter(p Rates, now func() time.Time) *rateLimiter {
	return &rateLimiter{
		now: now, all: newBucket(p.Messages, p.Burst, time.Minute), outreach: newBucket(p.Outreach, p.OutreachBurst, time.Hour),
	}
}

// turn takes the turn of a message, or says how long to wait for it.
func (p *rateLimiter) turn(stranger bool) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	at := p.all.next(now, 0)
	if stranger {
		at = latest(at, p.outreach.next(now, 0))
	}
	if wait = at.Sub(now); wait > 0 {
		return wait
	}
	p.all.take(now)
	if stranger {
		p.outreach.take(now)
	}
	return 0
}

// next is when a message could go behind others to the same contact.
func (p *rateLimiter) next(stranger bool, others int) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	at := p.all.next(now, others)
	if stranger {
		at = latest(at, latest(p.outreach.next(now, 0), p.locked))
	}
	return at
}

// lock keeps the line from writing to strangers until then; zero: not any more.
func (p *rateLimiter) lock(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.locked = at
}

// wasLocked reports whether strangers were to be left alone, for now or until
// some time that is past.
func (p *rateLimiter) wasLocked() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.locked.IsZero()
}

func (p *rateLimiter) untilUnlocked() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.locked.Sub(p.now()), 0)
}
