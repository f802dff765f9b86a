package messaging

import (
	"context"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/provider"
)

// foundMessages says which message a status is about.
type foundMessages map[messageKey]int64

func (f foundMessages) seqs() []int64 {
	var out []int64
	for _, seq := range f {
		out = append(out, seq)
	}
	return out
}

// statusKey is how found lists the message of e: by the network's id or, when
// that is not stored yet, by ours.
func statusKey(ref provider.ReferenceID, e *provider.StatusChange) messageKey {
	return messageKey{ref, e.MessageID}
}

// findStatusMessages locates the messages that statuses among as are about,
// and their chats.
func (u *unit) findStatusMessages(ctx context.Context, as []arrival) (foundMessages, []int64, error) {
	var keys ordered[messageKey]
	own := map[messageKey][]messageKey{} // our id: the network's ids that came with it
	for _, a := range as {
		e, ok := a.event.(*provider.StatusChange)
		if !ok {
			continue
		}
		keys.add(statusKey(a.line.ID, e))
		if e.OwnID != "" {
			k := messageKey{a.line.ID, e.OwnID}
			keys.add(k)
			own[k] = append(own[k], statusKey(a.line.ID, e))
		}
	}
	at, err := u.locate(ctx, keys.items)
	if err != nil {
		return nil, nil, err
	}
	found, chats := foundMessages{}, []int64{}
	for _, l := range at {
		found[l.messageKey] = l.Seq
		chats = append(chats, l.Chat)
	}
	for _, l := range at {
		for _, k := range own[messageKey{l.Reference, l.OwnID}] {
			if _, known := found[k]; !known && l.OwnID != "" {
				found[k] = l.Seq
			}
		}
	}
	return found, chats, nil
}

// progress applies a status that the network reported for m.
func (u *unit) progress(l line, m *messageRow, e *provider.StatusChange) {
	if m.Mine && m.OwnID != "" && e.MessageID != "" && !m.Announced {
		m.ID = e.MessageID
	}
	var why Failure
	if e.Status == provider.StatusFail {
		why = Failure{Code: "failed", Message: "The network reported a failure."}
		if e.Error != nil {
			why = Failure{e.Error.Code, e.Error.Message}
		}
	}
	u.raise(l, m, e.Status, why)
}

// raise lifts m to status if that is higher, and says so. An own message that
// nobody has heard of is announced first: whatever the network says of it, it
// has taken it.
func (u *unit) raise(l line, m *messageRow, status provider.Status, why Failure) {
	c := u.chats[m.Chat]
	if !m.Announced {
		u.announce(l, c, m, min(status, provider.StatusFail), why)
	}
	if status <= m.Status {
		return
	}
	m.set(status, why)
	u.dirtyMessages.add(m)
	u.emit(l.Account, EventStatus, c, m)
}

// announce makes the one message event of an own message.
func (u *unit) announce(l line, c *chatRow, m *messageRow, status provider.Status, why Failure) {
	if status != provider.StatusFail {
		status = provider.StatusSending
	}
	m.set(status, why)
	m.Announced = true
	u.dirtyMessages.add(m)
	u.emit(l.Account, EventMessage, c, m)
}

// set lifts the status; a message that got further than FAIL did not fail.
func (m *messageRow) set(status provider.Status, why Failure) {
	m.Status = max(m.Status, status)
	m.GiveUpUS = 0
	m.ErrorCode, m.ErrorMessage = "", ""
	if m.Status == provider.StatusFail {
		m.ErrorCode, m.ErrorMessage = why.Code, why.Message
	}
}

// earlyRow is a status that came before its message was known.
type earlyRow struct {
	Status       provider.Status `db:"status"`
	ErrorCode    string          `db:"error_code"`
	ErrorMessage string          `db:"error_message"`
}

// takeEarly applies the statuses that came before m's id was known.
func (u *unit) takeEarly(ctx context.Context, l line, m *messageRow) error {
	var rows []earlyRow
	err := u.tx.SelectContext(ctx, &rows, `DELETE FROM messaging_early WHERE reference = $1 AND message_id = $2
		RETURNING status, error_code, error_message`, m.Reference, m.ID)
	if err != nil {
		return fmt.Errorf("taking early statuses: %w", err)
	}
	slices.SortFunc(rows, func(a, b earlyRow) int { return int(a.Status - b.Status) })
	for _, r := range rows {
		u.raise(l, m, r.Status, Failure{r.ErrorCode, r.ErrorMessage})
	}
	return nil
}
