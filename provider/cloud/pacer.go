package cloud

import (
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

var _ provider.Pacer = (*session)(nil)

// Left counts what another process sent, against the budgets of the number and
// of its contacts.
func (s *session) Left(sent []provider.Departure) {
	s.pace.mu.Lock()
	defer s.pace.mu.Unlock()
	if s.pace.numbers[s.phone] != nil {
		return // it was open before: it knows
	}
	n := s.pace.number(s.phone)
	for i, d := range sent[max(0, len(sent)-len(n.turns)):] {
		n.turns[i] = &turn{free: d.At.Add(second)}
	}
	for _, d := range sent {
		if contact := paceKey(d.To); contact != "" {
			n.pairs[contact] = latest(n.pairs[contact], d.At).Add(pairEvery)
		}
	}
	n.forgetPairs(s.pace.now())
}

// Next says when both budgets have room.
func (s *session) Next(to provider.Address, others int) time.Time {
	s.pace.mu.Lock()
	defer s.pace.mu.Unlock()
	n, now := s.pace.number(s.phone), s.pace.now()
	paid := latest(n.pairs[paceKey(to)], now).Add(time.Duration(others) * pairEvery)
	_, at := n.next(now)
	return latest(at, paid.Add(-(pairBurst-1)*pairEvery))
}

// paceKey is what a contact's budget is kept under.
func paceKey(to provider.Address) string {
	var m Message
	if m.address(to) != nil {
		return ""
	}
	return first(m.To, m.Recipient)
}
