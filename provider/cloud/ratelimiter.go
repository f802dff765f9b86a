package cloud

import (
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

var _ provider.RateLimiter = (*session)(nil)

// Left counts what another process sent, against the budgets of the number and
// of its contacts.
func (s *session) Left(sent []provider.SentRecord) {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	if s.limiter.numbers[s.phone] != nil {
		return // it was open before: it knows
	}
	n := s.limiter.number(s.phone)
	for i, d := range sent[max(0, len(sent)-len(n.turns)):] {
		n.turns[i] = &turn{free: d.At.Add(second)}
	}
	for _, d := range sent {
		if contact := limitKey(d.To); contact != "" {
			n.pairs[contact] = latest(n.pairs[contact], d.At).Add(pairInterval)
		}
	}
	n.forgetPairs(s.limiter.now())
}

// Next says when both budgets have room.
func (s *session) Next(to provider.Address, others int) time.Time {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	n, now := s.limiter.number(s.phone), s.limiter.now()
	paid := latest(n.pairs[limitKey(to)], now).Add(time.Duration(others) * pairInterval)
	_, at := n.next(now)
	return latest(at, paid.Add(-(pairBurst-1)*pairInterval))
}

// limitKey is what a contact's budget is kept under.
func limitKey(to provider.Address) string {
	var m Message
	if m.address(to) != nil {
		return ""
	}
	return first(m.To, m.Recipient)
}
