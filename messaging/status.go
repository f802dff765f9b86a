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
func (u *batch) findStatusMessages(ctx context.Context, as []inboundEvent) (foundMessages, []int64, error) {
	var keys ordered[messageKey]
	own := map[messageKey][]messageKey{} // our id: the network's ids that came with it
	for _, a := range as {
		e, ok := a.event.(*provider.StatusChange)
		if !ok || isWatermark(e) {
			continue
		}
		keys.add(statusKey(a.reference.ID, e))
		if e.OwnID != "" {
			k := messageKey{a.reference.ID, e.OwnID}
			keys.add(k)
			own[k] = append(own[k], statusKey(a.reference.ID, e))
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

// applyProgress applies a status that the network reported for m.
func (u *batch) applyProgress(l referenceInfo, m *messageRow, e *provider.StatusChange) {
	if m.OwnID != "" && e.MessageID != "" && !m.Announced && u.added[messageKey{m.Reference, e.MessageID}] == nil {
		m.ID = e.MessageID
	}
	var why Failure
	if e.Error != nil {
		why = Failure(*e.Error)
	}
	u.atNetworkTime(e.At, func() { u.raiseStatus(l, m, e.Status, why) })
	u.openUntil(m, database.Micros(e.WindowUntil))
}

// openUntil keeps the window of m's chat open.
func (u *batch) openUntil(m *messageRow, untilUS int64) {
	if c := u.chats[m.Chat]; untilUS > c.WindowUS {
		c.WindowUS = untilUS
		u.activeChats.add(c)
	}
}

// raiseStatus lifts m to status if that is higher, and says so. An own message that
// nobody has heard of is announced first: whatever the network says of it, it
// has taken it.
func (u *batch) raiseStatus(l referenceInfo, m *messageRow, status provider.Status, why Failure) {
	c := u.chats[m.Chat]
	if !m.Announced {
		u.announce(l, c, m, status, why)
	}
	if status <= m.Status {
		return
	}
	if m.PastUS != 0 { // nobody has heard of it
		m.setStatus(status, why)
		u.dirtyMessages.add(m)
		return
	}
	if !m.Mine && m.Status < provider.StatusRead && status >= provider.StatusRead {
		c.Unread = max(0, c.Unread-1)
		u.activeChats.add(c)
	}
	m.setStatus(status, why)
	u.recordStatus(m, status, why)
	u.emit(l.Account, EventStatus, c, m)
	u.applyWatermarks(l, m)
}

// announce makes the one message event of an own message: taken by the network
// or failed, whatever further status is known.
func (u *batch) announce(l referenceInfo, c *chatRow, m *messageRow, status provider.Status, why Failure) {
	if status != provider.StatusFail {
		status = provider.StatusSending
	}
	m.setStatus(status, why)
	m.Announced = true
	u.recordStatus(m, status, why)
	u.deferForLink(c, m)
	u.emit(l.Account, EventMessage, c, m)
	u.applyWatermarks(l, m)
}

// noReasonText stands for the words of a network that has none.
const noReasonText = "The network gave no reason."

// setStatus lifts the status; a message that got further than FAIL did not fail. An
// error that is about its file stays.
func (m *messageRow) setStatus(status provider.Status, why Failure) {
	if m.OwnID != "" && !m.isMissingFile() || m.Status == provider.StatusFail {
		m.fails(Failure{})
	}
	m.Status = max(m.Status, status)
	m.GiveUpUS = 0
	if m.Status == provider.StatusFail {
		m.fails(Failure{Code: cmp.Or(why.Code, "failed"), Message: cmp.Or(why.Message, noReasonText), Advice: why.Advice})
	}
}

// earlyStatusRow is a status that came before its message was known.
type earlyStatusRow struct {
	messageKey
	Status       provider.Status `db:"status"`
	ErrorCode    string          `db:"error_code"`
	ErrorMessage string          `db:"error_message"`
	ErrorAdvice  string          `db:"error_advice"`
	WindowUS     int64           `db:"window_us"`
	AtUS         int64           `db:"at_us"`
}

// applyEarlyStatuses applies statuses that were stored as early while the id of their
// message was being stored by another transaction.
func (s *Service) applyEarlyStatuses(ctx context.Context) error {
	var seqs []int64
	err := s.db.SelectContext(ctx, &seqs, `SELECT DISTINCT m.seq FROM messaging_early e
		JOIN messaging_message m ON m.reference = e.reference AND m.id = e.message_id WHERE e.created_us > $1 LIMIT 200`,
		database.Micros(s.now().Add(-earlyStatusRace)))
	if err != nil || len(seqs) == 0 {
		return err
	}
	return s.inBatch(ctx, func(u *batch) error {
		if err := u.loadLocked(ctx, seqs); err != nil {
			return err
		}
		for _, seq := range seqs {
			m := u.messages[seq]
			if m == nil {
				continue // deleted meanwhile
			}
			l, err := s.referenceInfo(ctx, u.tx, m.Reference)
			if err != nil {
				return err
			}
			if err := u.takeEarlyStatus(ctx, l, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// earlyStatusRace is how long after a status its message can appear without having
// seen it.
const earlyStatusRace = time.Minute

const (
	deleteEarlyStatuses     = `DELETE FROM messaging_early WHERE`
	deleteEarlyStatusesTail = ` RETURNING reference, message_id AS id, status, error_code, error_message, error_advice, window_us, at_us`
)

// takeEarlyStatuses takes the statuses that came before messages were known, lowest
// first.
func (u *batch) takeEarlyStatuses(ctx context.Context, keys []messageKey) (map[messageKey][]earlyStatusRow, error) {
	out := map[messageKey][]earlyStatusRow{}
	rows, err := among[earlyStatusRow](ctx, u, deleteEarlyStatuses, `(reference, message_id)`, keyTypes, keyRows(keys), deleteEarlyStatusesTail)
	if err != nil {
		return nil, fmt.Errorf("taking early statuses: %w", err)
	}
	for _, r := range rows {
		out[r.messageKey] = append(out[r.messageKey], r)
	}
	for _, rows := range out {
		slices.SortFunc(rows, func(a, b earlyStatusRow) int { return int(a.Status - b.Status) })
	}
	return out, nil
}

// takeEarlyStatus applies the statuses that came before m's id was known.
func (u *batch) takeEarlyStatus(ctx context.Context, l referenceInfo, m *messageRow) error {
	key := messageKey{m.Reference, m.ID}
	rows, err := u.takeEarlyStatuses(ctx, []messageKey{key})
	u.applyEarlyStatuses(l, m, rows[key])
	return err
}

func (u *batch) applyEarlyStatuses(l referenceInfo, m *messageRow, rows []earlyStatusRow) {
	for _, r := range rows {
		u.atNetworkTime(database.Time(r.AtUS), func() {
			u.raiseStatus(l, m, r.Status, Failure{Code: r.ErrorCode, Message: r.ErrorMessage, Advice: r.ErrorAdvice})
		})
		u.openUntil(m, r.WindowUS)
	}
}
