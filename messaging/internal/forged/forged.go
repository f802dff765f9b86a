// Package forged limits what callbacks without a valid signature cost: the
// addresses from which they come are refused before a body is read, and large
// bodies of strangers are checked one after another, with rests.
package forged

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/internal/apierr"
)

// An address has a bucket of tokens. A body takes one, and one more for each
// part bytes of it; a valid signature gives them back. An address
// from which such a body came has a hundred times as many for a day: networks
// post all callbacks of a server from a few addresses, also those of references that
// are gone. What is spent on bodies that are not checked yet makes others wait; only
// what is spent on bodies without a valid signature counts against the address.
const (
	capacity  = 2000
	perSecond = 10
	part      = 16 << 10
	trust     = 100
	trusted   = 24 * time.Hour
	networks  = 1 << 16 // that are remembered
)

// A body of at most small bytes is checked at once: it costs a fraction of a
// millisecond, and nearly all callbacks are as small. After a larger one
// without a valid signature no other of a stranger is checked for restTimes the time that it
// took: together they take a tenth of one processor.
const (
	small     = 64 << 10
	restTimes = 9
	restLimit = time.Second
	// maxWaiting is how many bodies wait to be checked: each is in memory, and
	// with more of them the networks would not wait for the answer.
	maxWaiting = 16
)

// BusyWait is when to try again after [ErrBusy].
const BusyWait = time.Second

// ErrBusy reports that too many bodies of strangers wait already.
var ErrBusy = apierr.New("messaging", apierr.Unavailable, "too many callbacks from unknown addresses wait to be checked: try again later")

// ErrForged reports that too many bodies of an address had no valid signature.
var ErrForged = apierr.New("messaging", apierr.RateLimited, "too many callbacks from this address had a signature that matches no reference; try again later")

// Result is what the check of a body has shown.
type Result int

const (
	// Unsigned is a body without a valid signature.
	Unsigned Result = iota
	// Foreign is a body that is for none of our networks.
	Foreign
	// Unchecked is a body whose signature could not be checked, such as while the
	// database is out of reach.
	Unchecked
	// Signed is a body with a valid signature.
	Signed
)

// Limiter counts in memory: a write for each body would cost more than it.
// The zero value is ready.
type Limiter struct {
	mu      sync.Mutex
	buckets map[netip.Prefix]bucket
	waiting int           // large bodies of strangers
	once    sync.Once     // makes turn
	turn    chan struct{} // its one place is taken while a stranger's large body is checked
}

type bucket struct {
	spent   float64
	pending float64 // of it, what bodies have taken that are not checked yet
	at      time.Time
	good    time.Time // when a body with a valid signature last came
}

// Take has an address pay for a body of so many bytes; [Limiter.Checked] follows. When
// it has nothing left, Take returns [ErrForged] or [ErrBusy], and how long until it has.
func (l *Limiter) Take(from netip.Addr, bytes int64, now time.Time) (wait time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := network(from)
	b := l.buckets[key].now(now)
	over := b.spent - b.times()*capacity
	switch {
	case over < 0:
	case over < b.pending:
		return BusyWait, ErrBusy
	default:
		return time.Duration((over + 1) / (b.times() * perSecond) * float64(time.Second)), ErrForged
	}
	b.spent += cost(bytes)
	b.pending += cost(bytes)
	l.keep(key, b)
	return 0, nil
}

// Checked ends what [Limiter.Take] began: it gives back what a body has taken that does
// not count against its address.
func (l *Limiter) Checked(from netip.Addr, bytes int64, now time.Time, is Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := network(from)
	b := l.buckets[key].now(now)
	b.pending = max(0, b.pending-cost(bytes))
	switch is {
	case Unsigned:
	case Foreign:
		b.spent = max(0, b.spent-1)
	case Unchecked:
		b.spent = max(0, b.spent-cost(bytes))
	case Signed:
		b.spent = max(0, b.spent-cost(bytes))
		b.good = now
	}
	l.keep(key, b)
}

// Wait returns when a body of so many bytes that came from an address may be
// checked. The caller calls done after the check and says whether the body had a
// valid signature. Bodies of addresses from which such a body came before do
// not wait. The error is [ErrBusy] or ctx's.
func (l *Limiter) Wait(ctx context.Context, from netip.Addr, bytes int64, now time.Time) (done func(signed bool), err error) {
	if bytes <= small || l.trusts(from, now) {
		return func(bool) {}, nil
	}
	l.once.Do(func() { l.turn = make(chan struct{}, 1) })
	if !l.enter() {
		return nil, ErrBusy
	}
	defer l.leave()
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	started := time.Now()
	return func(signed bool) {
		if signed {
			<-l.turn
			return
		}
		time.AfterFunc(min(restLimit, restTimes*time.Since(started)), func() { <-l.turn })
	}, nil
}

// enter counts one more body that waits, if it may.
func (l *Limiter) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting >= maxWaiting {
		return false
	}
	l.waiting++
	return true
}

func (l *Limiter) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting--
}

// trusts reports whether a body of that address had a valid signature lately.
func (l *Limiter) trusts(from netip.Addr, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	good := l.buckets[network(from)].good
	return !good.IsZero() && now.Sub(good) < trusted
}

// now is b as it is now.
func (b bucket) now(t time.Time) bucket {
	if t.Sub(b.good) >= trusted {
		b.good = time.Time{}
	}
	b.spent = max(0, b.spent-t.Sub(b.at).Seconds()*perSecond*b.times())
	b.at = t
	return b
}

// times is how many times the tokens of a stranger it has.
func (b bucket) times() float64 {
	if b.good.IsZero() {
		return 1
	}
	return trust
}

// keep remembers a bucket. When there are too many it forgets those that are
// full, and then any but of who is trusted.
func (l *Limiter) keep(key netip.Prefix, b bucket) {
	if _, known := l.buckets[key]; !known && len(l.buckets) >= networks {
		l.forget(b.at)
	}
	if l.buckets == nil {
		l.buckets = map[netip.Prefix]bucket{}
	}
	l.buckets[key] = b
}

func (l *Limiter) forget(now time.Time) {
	for key, b := range l.buckets {
		if b = b.now(now); b.spent == 0 && b.pending == 0 && b.good.IsZero() {
			delete(l.buckets, key)
		}
	}
	for key, b := range l.buckets {
		if len(l.buckets) < networks/2 {
			return
		}
		if b.good.IsZero() {
			delete(l.buckets, key)
		}
	}
}

func cost(bytes int64) float64 { return 1 + float64(bytes/part) }

// network is what counts as one address: all of IPv4, the /64 of IPv6, which
// one subscriber has whole.
func network(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // fails for the invalid address: all of those count as one
	return p
}
