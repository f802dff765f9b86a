package cloud

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// Meta's rates. https://developers.facebook.com/docs/whatsapp/cloud-api/overview#throughput
const (
	perSecond      = 80              // of one number
	perSecondHigh  = 1000            // of a number with high throughput
	perSecondPhone = 20              // of a number that a phone app shares
	pairBurst      = 45              // to one contact at once
	pairInterval   = 6 * time.Second // after that

	// second is Meta's, and a little more.
	second = time.Second + 10*time.Millisecond
	// transit limits how long a message takes to arrive after it was written.
	// It has arrived when it is answered.
	transit = 250 * time.Millisecond
	// soon is when to check again while it is not known when a turn becomes
	// free.
	soon = 20 * time.Millisecond

	// timeout is how long a send waits for its turn. A send that would wait
	// longer fails with the time to wait, so that it does not block a worker.
	timeout = time.Second
	// forgetAt is the minimum number of contacts of a number before those with
	// a full burst are forgotten.
	forgetAt = 1024
)

// limiter keeps sends within Meta's rates, for all references of one process.
// The network counts messages when they arrive, and not all take the same time.
// A send therefore takes a turn before its request, and the turn is free again
// a second after the message must have arrived. A failed send has also used its
// turn.
type limiter struct {
	now func() time.Time

	mu      sync.Mutex
	numbers map[string]*budget
}

// budget is the budget of one phone number.
type budget struct {
	turns  []*turn              // the messages of the last second; nil: none yet
	pairs  map[string]time.Time // by contact: when the messages are paid for
	forget int                  // size of pairs at which contacts are forgotten
}

// turn is the share of one message in a second of its number.
type turn struct {
	leaving bool      // it is not written yet
	free    time.Time // when another message may have the turn; not known while it is leaving
}

func newLimiter(now func() time.Time) *limiter {
	if now == nil {
		now = time.Now
	}
	return &limiter{now: now, numbers: map[string]*budget{}}
}

// contact waits for the turn of the contact. If the wait is longer than
// timeout, it returns a [*provider.RateLimited] with the time; if ctx ends
// first, a [*provider.Temporary]. Other contacts are not delayed.
func (p *limiter) contact(ctx context.Context, phone, contact string) error {
	return wait(ctx, p.reservePair(phone, contact))
}

// turn waits in the same way for a turn of the number. If there is none, it
// returns the contact's turn. It does not reserve turns ahead of time: sends
// that wake late would then meet those on time, and one second could contain
// too many.
func (p *limiter) turn(ctx context.Context, phone, contact string) (*turn, error) {
	t, err := p.awaitTurn(ctx, phone)
	if err != nil {
		p.returnPair(phone, contact)
	}
	return t, err
}

func (p *limiter) awaitTurn(ctx context.Context, phone string) (*turn, error) {
	for waited := time.Duration(0); ; {
		if err := ctx.Err(); err != nil {
			return nil, &provider.Temporary{Err: err}
		}
		t, d := p.takeTurn(phone)
		if t != nil {
			return t, nil
		}
		if waited += d; waited > timeout {
			return nil, tooFar(d)
		}
		if err := wait(ctx, d); err != nil {
			return nil, err
		}
	}
}

// written records that the message of a turn was written.
func (p *limiter) written(t *turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.leaving, t.free = false, p.now().Add(transit+second)
}

// arrived records that the message of a turn was answered or has failed. The
// contact's next interval also starts now.
func (p *limiter) arrived(t *turn, phone, contact string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if free := now.Add(second); t.leaving || t.free.After(free) {
		t.leaving, t.free = false, free
	}
	n := p.number(phone)
	n.pairs[contact] = latest(n.pairs[contact], now.Add(pairInterval))
}

func tooFar(d time.Duration) error {
	return &provider.RateLimited{After: d, Message: "the send rate of the network is used up for now"}
}

func wait(ctx context.Context, d time.Duration) error {
	switch err := ctx.Err(); {
	case err != nil:
		return &provider.Temporary{Err: err}
	case d > timeout:
		return tooFar(d)
	case d <= 0:
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return &provider.Temporary{Err: ctx.Err()}
	}
}

// reservePair returns how long to wait for the contact's next message. It
// reserves nothing if that is longer than timeout.
//
// The stored time is when all messages are paid for, at one every six seconds.
// A burst is paid for later.
func (p *limiter) reservePair(phone, contact string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, now := p.number(phone), p.now()
	paid := latest(n.pairs[contact], now)
	d := paid.Sub(now) - (pairBurst-1)*pairInterval
	if d > timeout {
		return d
	}
	n.pairs[contact] = paid.Add(pairInterval)
	if len(n.pairs) >= n.forget {
		n.forgetPairs(now)
	}
	return d
}

func (p *limiter) returnPair(phone, contact string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.number(phone); !n.pairs[contact].IsZero() {
		n.pairs[contact] = n.pairs[contact].Add(-pairInterval)
	}
}

// takeTurn takes a free turn of the number, or returns how long to wait for
// one.
func (p *limiter) takeTurn(phone string) (*turn, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, now := p.number(phone), p.now()
	i, at := n.next(now)
	if d := at.Sub(now); d > 0 {
		return nil, d
	}
	n.turns[i] = &turn{leaving: true}
	return n.turns[i], 0
}

// next returns the turn that is free first, and when.
func (n *budget) next(now time.Time) (i int, at time.Time) {
	at = now.Add(soon)
	known := false
	for j, t := range n.turns {
		switch {
		case t == nil || !t.leaving && !t.free.After(now):
			return j, now
		case !t.leaving && (!known || t.free.Before(at)):
			i, at, known = j, t.free, true
		}
	}
	return i, at
}

// forgetPairs removes the contacts with a full burst.
func (n *budget) forgetPairs(now time.Time) {
	for contact, paid := range n.pairs {
		if !paid.After(now) {
			delete(n.pairs, contact)
		}
	}
	n.forget = max(forgetAt, 2*len(n.pairs))
}

func (p *limiter) number(phone string) *budget {
	n := p.numbers[phone]
	if n == nil {
		n = &budget{pairs: map[string]time.Time{}, forget: forgetAt}
		n.setRate(perSecond)
		p.numbers[phone] = n
	}
	return n
}

// learn sets the number's rate from what the network reports.
func (p *limiter) learn(phone string, stated Number) {
	rate := perSecond
	switch {
	case stated.OnPhone:
		rate = perSecondPhone
	case stated.Throughput == "HIGH":
		rate = perSecondHigh
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number(phone).setRate(rate)
}

// setRate keeps as many of the latest turns as the new rate allows.
func (n *budget) setRate(rate int) {
	if len(n.turns) == rate {
		return
	}
	slices.SortFunc(n.turns, func(a, b *turn) int { return b.end().Compare(a.end()) })
	n.turns = append(make([]*turn, 0, rate), n.turns[:min(rate, len(n.turns))]...)[:rate]
}

// end returns when a turn is free; a turn whose message is leaving comes last.
func (t *turn) end() time.Time {
	switch {
	case t == nil:
		return time.Time{}
	case t.leaving:
		return time.Unix(1<<40, 0)
	}
	return t.free
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

var _ provider.RateLimiter = (*session)(nil)

// Left counts what another process sent against the budgets of the number and
// of its contacts.
func (s *session) Left(sent []provider.SentRecord) {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	if s.limiter.numbers[s.phone] != nil {
		return // an earlier session of this process has counted them
	}
	n, now := s.limiter.number(s.phone), s.limiter.now()
	for i, d := range sent[max(0, len(sent)-len(n.turns)):] {
		n.turns[i] = &turn{free: now.Add(second - d.Ago)}
	}
	for _, d := range sent {
		if contact := limitKey(d.To); contact != "" {
			n.pairs[contact] = latest(n.pairs[contact], now.Add(-d.Ago)).Add(pairInterval)
		}
	}
	n.forgetPairs(now)
}

// Next returns how long it takes until both budgets allow a message.
func (s *session) Next(to provider.Address, others int) time.Duration {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	n, now := s.limiter.number(s.phone), s.limiter.now()
	paid := latest(n.pairs[limitKey(to)], now).Add(time.Duration(others) * pairInterval)
	_, at := n.next(now)
	return latest(at, paid.Add(-(pairBurst-1)*pairInterval)).Sub(now)
}

// limitKey returns the key of a contact's budget.
func limitKey(to provider.Address) string {
	var m Message
	if m.address(to) != nil {
		return ""
	}
	return first(m.To, m.Recipient)
}
