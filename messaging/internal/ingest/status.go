package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/session"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/timeline"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// foundMessages says which message a status is about.
type foundMessages map[store.MessageKey]int64

func (f foundMessages) seqs() []int64 {
	var out []int64
	for _, seq := range f {
		out = append(out, seq)
	}
	return out
}

// statusKey is how found lists the message of e: by the network's id or, when
// e has none, by ours.
func statusKey(ref provider.ReferenceID, e *provider.StatusChange) store.MessageKey {
	return store.MessageKey{Reference: ref, ID: cmp.Or(e.MessageID, e.OwnID)}
}

// findStatusMessages locates the messages that statuses among as are about,
// and their chats.
func findStatusMessages(ctx context.Context, u *store.Batch, as []Event) (foundMessages, []int64, error) {
	var keys store.Ordered[store.MessageKey]
	own := map[store.MessageKey][]store.MessageKey{} // our id: the network's ids that came with it
	for _, a := range as {
		e, ok := a.Event.(*provider.StatusChange)
		if !ok || isWatermark(e) {
			continue
		}
		keys.Add(statusKey(a.Reference.ID, e))
		if e.OwnID != "" {
			k := store.MessageKey{Reference: a.Reference.ID, ID: e.OwnID}
			keys.Add(k)
			own[k] = append(own[k], statusKey(a.Reference.ID, e))
		}
	}
	at, err := u.Locate(ctx, keys.Items)
	if err != nil {
		return nil, nil, err
	}
	found, chats := foundMessages{}, []int64{}
	for _, l := range at {
		found[l.MessageKey] = l.Seq
		chats = append(chats, l.Chat)
	}
	for _, l := range at {
		for _, k := range own[store.MessageKey{Reference: l.Reference, ID: l.OwnID}] {
			if _, known := found[k]; !known && l.OwnID != "" {
				found[k] = l.Seq
			}
		}
	}
	return found, chats, nil
}

// applyProgress applies a status that the network reported for m.
func applyProgress(u *store.Batch, l store.ReferenceInfo, m *store.Message, e *provider.StatusChange) {
	if m.OwnID != "" && e.MessageID != "" && !m.Announced && u.Added[store.MessageKey{Reference: m.Reference, ID: e.MessageID}] == nil {
		m.ID = e.MessageID
	}
	var why payload.Failure
	if e.Error != nil {
		why = payload.Failure(*e.Error)
	}
	timeline.AtNetworkTime(u, e.At, func() { RaiseStatus(u, l, m, e.Status, why) })
	openUntil(u, m, database.Micros(e.WindowUntil))
}

// openUntil keeps the window of m's chat open.
func openUntil(u *store.Batch, m *store.Message, untilUS int64) {
	if c := u.Chats[m.Chat]; untilUS > c.WindowUS {
		c.WindowUS = untilUS
		u.ActiveChats.Add(c)
	}
}

// RaiseStatus lifts m to status if that is higher, and says so. An own message that
// was not announced is announced first: whatever the network says of it, it
// has taken it.
func RaiseStatus(u *store.Batch, l store.ReferenceInfo, m *store.Message, status provider.Status, why payload.Failure) {
	c := u.Chats[m.Chat]
	if !m.Announced {
		Announce(u, l, c, m, status, why)
	}
	if status <= m.Status {
		return
	}
	if m.PastUS != 0 { // it was not announced
		setStatus(m, status, why)
		u.DirtyMessages.Add(m)
		return
	}
	if !m.Mine && m.Status < provider.StatusRead && status >= provider.StatusRead {
		c.Unread = max(0, c.Unread-1)
		u.ActiveChats.Add(c)
	}
	setStatus(m, status, why)
	timeline.RecordStatus(u, m, status, why)
	u.Emit(l.Account, payload.EventStatus, c, m)
	applyWatermarks(u, l, m)
}

// Announce makes the one message event of an own message: taken by the network
// or failed, whatever further status is known.
func Announce(u *store.Batch, l store.ReferenceInfo, c *store.Chat, m *store.Message, status provider.Status, why payload.Failure) {
	if status != provider.StatusFail {
		status = provider.StatusSending
	}
	setStatus(m, status, why)
	m.Announced = true
	timeline.RecordStatus(u, m, status, why)
	deferForLink(u, c, m)
	u.Emit(l.Account, payload.EventMessage, c, m)
	applyWatermarks(u, l, m)
}

// setStatus lifts the status; a message that got further than FAIL did not fail. An
// error that is about its file stays.
func setStatus(m *store.Message, status provider.Status, why payload.Failure) {
	if m.OwnID != "" && !m.IsMissingFile() || m.Status == provider.StatusFail {
		m.SetFailure(payload.Failure{})
	}
	m.Status = max(m.Status, status)
	m.GiveUpUS = 0
	if m.Status == provider.StatusFail {
		m.SetFailure(payload.Failure{Code: cmp.Or(why.Code, "failed"), Message: cmp.Or(why.Message, session.NoReason), Advice: why.Advice})
	}
}

// earlyStatusRow is a status that came before its message was known.
type earlyStatusRow struct {
	store.MessageKey
	Status       provider.Status `db:"status"`
	ErrorCode    string          `db:"error_code"`
	ErrorMessage string          `db:"error_message"`
	ErrorAdvice  string          `db:"error_advice"`
	WindowUS     int64           `db:"window_us"`
	AtUS         int64           `db:"at_us"`
}

// ApplyOvertakenStatuses applies statuses that were stored as early while the id of their
// message was being stored by another transaction.
func ApplyOvertakenStatuses(ctx context.Context, s *store.Store) error {
	var seqs []int64
	err := s.DB.SelectContext(ctx, &seqs, `SELECT DISTINCT m.seq FROM messaging_early_status e
		JOIN messaging_message m ON m.reference = e.reference AND m.id = e.message_id WHERE e.created_us > $1 LIMIT 200`,
		database.Micros(s.Now().Add(-EarlyStatusRace)))
	if err != nil || len(seqs) == 0 {
		return err
	}
	return s.InBatch(ctx, func(u *store.Batch) error {
		if err := u.LoadLocked(ctx, seqs); err != nil {
			return err
		}
		for _, seq := range seqs {
			m := u.Messages[seq]
			if m == nil {
				continue // deleted meanwhile
			}
			if err := TakeEarlyStatus(ctx, u, u.References[m.Reference], m); err != nil {
				return err
			}
		}
		return nil
	})
}

// EarlyStatusRace is how long after a status its message can appear without having
// seen it.
const EarlyStatusRace = time.Minute

const (
	deleteEarlyStatuses     = `DELETE FROM messaging_early_status WHERE`
	deleteEarlyStatusesTail = ` RETURNING reference, message_id AS id, status, error_code, error_message, error_advice, window_us, at_us`
)

// takeEarlyStatuses takes the statuses that came before messages were known, lowest
// first.
func takeEarlyStatuses(ctx context.Context, u *store.Batch, keys []store.MessageKey) (map[store.MessageKey][]earlyStatusRow, error) {
	out := map[store.MessageKey][]earlyStatusRow{}
	rows, err := store.SelectAmong[earlyStatusRow](ctx, u, deleteEarlyStatuses, `(reference, message_id)`, store.KeyTypes, store.KeyRows(keys), deleteEarlyStatusesTail)
	if err != nil {
		return nil, fmt.Errorf("taking early statuses: %w", err)
	}
	for _, r := range rows {
		out[r.MessageKey] = append(out[r.MessageKey], r)
	}
	for _, rows := range out {
		slices.SortFunc(rows, func(a, b earlyStatusRow) int { return int(a.Status - b.Status) })
	}
	return out, nil
}

// TakeEarlyStatus applies the statuses that came before m's id was known.
func TakeEarlyStatus(ctx context.Context, u *store.Batch, l store.ReferenceInfo, m *store.Message) error {
	key := store.MessageKey{Reference: m.Reference, ID: m.ID}
	rows, err := takeEarlyStatuses(ctx, u, []store.MessageKey{key})
	applyEarlyStatuses(u, l, m, rows[key])
	return err
}

func applyEarlyStatuses(u *store.Batch, l store.ReferenceInfo, m *store.Message, rows []earlyStatusRow) {
	for _, r := range rows {
		timeline.AtNetworkTime(u, database.Time(r.AtUS), func() {
			RaiseStatus(u, l, m, r.Status, payload.Failure{Code: r.ErrorCode, Message: r.ErrorMessage, Advice: r.ErrorAdvice})
		})
		openUntil(u, m, r.WindowUS)
	}
}
