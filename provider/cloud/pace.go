package cloud

import (
	"context"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// Meta's rates. https://developers.facebook.com/docs/whatsapp/cloud-api/overview#throughput
const (
	perSecond      = 80              // messages of one number
	perSecondHigh  = 1000            // of a number with high throughput
	perSecondPhone = 20              // of a number that an app on a phone shares
	pairBurst      = 45              // messages to one contact at once
	pairEvery      = 6 * time.Second // and then

	// guard is by how much a second is stretched: the network counts messages
	// when they arrive, and not all are under way for as long.
	guard = 50 * time.Millisecond

	// patience is how long a send waits for its turn. Who would wait longer is
	// told how long instead, so that it holds no worker.
	patience = time.Second
	// forgetAt is how many contacts of a number are kept at least before those
	// that have their whole burst again are forgotten.
	forgetAt = 1024
)

// pace keeps what leaves within Meta's rates, for all lines of one process. It
// takes a turn before the request: one that is then given up is lost.
type pace struct {
	now func() time.Time

	mu      sync.Mutex
	numbers map[string]*budget
}

// budget is that of one phone number.
type budget struct {
	turns  []time.Time          // the latest taken, a ring of as many as a second may hold
	next   int                  // place of the oldest
	pairs  map[string]time.Time // contacts: when what they got is paid for
	forget int                  // size of pairs at which to look for those to forget
}

func newPace(now func() time.Time) *pace {
	if now == nil {
		now = time.Now
	}
	return &pace{now: now, numbers: map[string]*budget{}}
}

// contact waits for the turn of the contact. When that is farther than
// patience it returns a [*provider.RateLimited] that says how far; when ctx
// ends first, a [*provider.Temporary]. Meanwhile others have their turns.
func (p *pace) contact(ctx context.Context, phone, contact string) error {
	return wait(ctx, p.reservePair(phone, contact))
}

// turn waits likewise for the turn of the number. When there is none the
// contact's is given back.
func (p *pace) turn(ctx context.Context, phone, contact string) error {
	err := p.awaitTurn(ctx, phone)
	if err != nil {
		p.returnPair(phone, contact)
	}
	return err
}

// awaitTurn takes a turn of the number at the time of that turn and not
// before: were turns given out ahead, those that wake late would meet those
// that are on time, and a second hold more than it may.
func (p *pace) awaitTurn(ctx context.Context, phone string) error {
	for waited := time.Duration(0); ; {
		if err := ctx.Err(); err != nil {
			return &provider.Temporary{Err: err}
		}
		d := p.takeTurn(phone)
		if d <= 0 {
			return nil
		}
		if waited += d; waited > patience {
			return tooFar(d)
		}
		if err := wait(ctx, d); err != nil {
			return err
		}
	}
}

func tooFar(d time.Duration) error {
	return &provider.RateLimited{After: d, Message: "the rate at which the network takes messages is used up for now"}
}

func wait(ctx context.Context, d time.Duration) error {
	switch err := ctx.Err(); {
	case err != nil:
		return &provider.Temporary{Err: err}
	case d > patience:
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

// reservePair returns how long to wait for the contact's next message. What is
// more than patience is not reserved.
//
// The time that is kept is when all messages are paid for, at one every six
// seconds; a burst is paid later.
func (p *pace) reservePair(phone, contact string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, now := p.number(phone), p.now()
	paid := latest(n.pairs[contact], now)
	d := paid.Sub(now) - (pairBurst-1)*pairEvery
	if d > patience {
		return d
	}
	n.pairs[contact] = paid.Add(pairEvery)
	if len(n.pairs) >= n.forget {
		n.forgetPairs(now)
	}
	return d
}

func (p *pace) returnPair(phone, contact string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.number(phone); !n.pairs[contact].IsZero() {
		n.pairs[contact] = n.pairs[contact].Add(-pairEvery)
	}
}

// takeTurn takes the number's next turn if it is now, and else returns how far
// it is.
func (p *pace) takeTurn(phone string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, now := p.number(phone), p.now()
	d := n.turn(now).Sub(now)
	if d <= 0 {
		n.turns[n.next], n.next = now, (n.next+1)%len(n.turns)
	}
	return d
}

// turn is when the number may send next: not before the turn before, and more
// than a second after the one that is rate turns back.
func (n *budget) turn(now time.Time) time.Time {
	at := latest(now, n.turns[(n.next+len(n.turns)-1)%len(n.turns)])
	if oldest := n.turns[n.next]; !oldest.IsZero() {
		at = latest(at, oldest.Add(time.Second+guard))
	}
	return at
}

// forgetPairs drops the contacts that owe nothing.
func (n *budget) forgetPairs(now time.Time) {
	for contact, paid := range n.pairs {
		if !paid.After(now) {
			delete(n.pairs, contact)
		}
	}
	n.forget = max(forgetAt, 2*len(n.pairs))
}

func (p *pace) number(phone string) *budget {
	n := p.numbers[phone]
	if n == nil {
		n = &budget{pairs: map[string]time.Time{}, forget: forgetAt}
		n.setRate(perSecond)
		p.numbers[phone] = n
	}
	return n
}

// learn takes the number's rate from what the network says of it.
func (p *pace) learn(phone string, said Number) {
	rate := perSecond
	switch {
	case said.OnPhone:
		rate = perSecondPhone
	case said.Throughput == "HIGH":
		rate = perSecondHigh
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number(phone).setRate(rate)
}

// setRate keeps the latest turns, as many as the new rate looks at.
func (n *budget) setRate(rate int) {
	if len(n.turns) == rate {
		return
	}
	turns := make([]time.Time, rate)
	for i := range min(rate, len(n.turns)) {
		turns[rate-1-i] = n.turns[(n.next+len(n.turns)-1-i)%len(n.turns)]
	}
	n.turns, n.next = turns, 0
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
