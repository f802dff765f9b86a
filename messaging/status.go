package messaging

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
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
// e has none, by ours.
func statusKey(ref provider.ReferenceID, e *provider.StatusChange) messageKey {
	return messageKey{ref, cmp.Or(e.MessageID, e.OwnID)}
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
	if m.OwnID != "" && e.MessageID != "" && !m.Announced && u.added[messageKey{m.Reference, e.MessageID}] == nil {
		m.ID = e.MessageID
	}
	var why Failure
	if e.Error != nil {
		why = Failure{e.Error.Code, e.Error.Message}
	}
	u.raise(l, m, e.Status, why)
	if c, until := u.chats[m.Chat], database.Micros(e.WindowUntil); until > c.WindowUS {
		c.WindowUS = until
		u.activeChats.add(c)
	}
}

// raise lifts m to status if that is higher, and says so. An own message that
// nobody has heard of is announced first: whatever the network says of it, it
// has taken it.
func (u *unit) raise(l line, m *messageRow, status provider.Status, why Failure) {
	c := u.chats[m.Chat]
	if !m.Announced {
		u.announce(l, c, m, status, why)
	}
	if status <= m.Status {
		return
	}
	if !m.Mine && m.Status < provider.StatusRead && status >= provider.StatusRead {
		c.Unread = max(0, c.Unread-1)
		u.activeChats.add(c)
	}
	m.set(status, why)
	u.dirtyMessages.add(m)
	u.emit(l.Account, EventStatus, c, m)
}

// announce makes the one message event of an own message: taken by the network
// or failed, whatever further status is known.
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
		m.ErrorCode, m.ErrorMessage = cmp.Or(why.Code, "failed"), cmp.Or(why.Message, "The network gave no reason.")
	}
}

// earlyRow is a status that came before its message was known.
type earlyRow struct {
	Status       provider.Status `db:"status"`
	ErrorCode    string          `db:"error_code"`
	ErrorMessage string          `db:"error_message"`
}

// applyEarlies applies statuses that were stored as early while the id of their
// message was being stored by another transaction.
func (s *Service) applyEarlies(ctx context.Context) error {
	var seqs []int64
	err := s.db.SelectContext(ctx, &seqs, `SELECT DISTINCT m.seq FROM messaging_early e
		JOIN messaging_message m ON m.reference = e.reference AND m.id = e.message_id WHERE e.created_us > $1 LIMIT 200`,
		database.Micros(s.now().Add(-earlyRace)))
	if err != nil || len(seqs) == 0 {
		return err
	}
	return s.inTxUnit(ctx, func(u *unit) error {
		if err := u.loadLocked(ctx, seqs); err != nil {
			return err
		}
		for _, seq := range seqs {
			m := u.messages[seq]
			if m == nil {
				continue // deleted meanwhile
			}
			l, err := s.line(ctx, u.tx, m.Reference)
			if err != nil {
				return err
			}
			if err := u.takeEarly(ctx, l, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// earlyRace is how long after a status its message can appear without having
// seen it.
const earlyRace = time.Minute

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
