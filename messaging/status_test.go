package messaging_test

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

var statuses = []provider.Status{
	provider.StatusPending, provider.StatusSending, provider.StatusFail,
	provider.StatusDelivered, provider.StatusRead, provider.StatusPlayed,
}

// TestStatusIsAMaximum tries every pair of statuses on a message that was
// taken, which is SENDING.
func TestStatusIsAMaximum(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("open", "111", "hello"))
		for _, a := range statuses {
			for _, b := range statuses {
				m := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", Wait: timeout})
				require.Equal(t, "SENDING", m.Status)
				for _, s := range []provider.Status{a, b} {
					e := status(m.ID, s)
					if s == provider.StatusFail {
						e.Error = &provider.Failure{Code: "131000", Message: "Something went wrong"}
					}
					f.receive(t, ref, e)
				}
				want, at := []string{"message:SENDING"}, provider.StatusSending
				for _, s := range []provider.Status{a, b} {
					if s > at {
						at, want = s, append(want, "status:"+s.String())
					}
				}
				require.Equal(t, want, f.sink.of(t, m.ID), "%s then %s", a, b)
				got := f.message(t, ref, "111", m.ID)
				require.Equal(t, at.String(), got.Status)
				if at == provider.StatusFail {
					require.Equal(t, &messaging.Failure{Code: "131000", Message: "Something went wrong"}, got.Error)
				} else {
					require.Nil(t, got.Error, "%s then %s", a, b)
				}
			}
		}
	})
}

// TestStatusOvertakesTheAnswer lets the network report on a message before it
// has answered the send.
func TestStatusOvertakesTheAnswer(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("open", "111", "hello"))
		overtake := func(evs func(own, id string) []provider.Event) messaging.Message {
			var id string
			f.net.script(func(_ netctx, out provider.Outbound, _ int) (provider.Receipt, error) {
				r := f.net.taken(out)
				id = r.MessageID
				f.receive(t, ref, evs(out.ID, id)...)
				return r, nil
			})
			sent, _ := f.acc.Send(t.Context(), messaging.SendRequest{
				Reference: ref, ChatID: "111", Content: provider.Text{Text: "hi"}, Wait: timeout,
			})
			require.Equal(t, id, sent.Message.ID)
			// The send returns when a status was seen; the answer is recorded after.
			f.until(t, "the answer is recorded", func() bool {
				return count(t, db, `SELECT count(*) FROM messaging_outbound WHERE NOT tried`) == 0
			})
			return f.message(t, ref, "111", id)
		}

		m := overtake(func(_, id string) []provider.Event { // by the network's id
			return []provider.Event{status(id, provider.StatusRead), status(id, provider.StatusDelivered)}
		})
		require.Equal(t, []string{"message:SENDING", "status:DELIVERED", "status:READ"}, f.sink.of(t, m.ID))
		require.Equal(t, "READ", m.Status)
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_early_status`))

		m = overtake(func(own, id string) []provider.Event { // by our id
			return []provider.Event{&provider.StatusChange{MessageID: id, OwnID: own, Status: provider.StatusDelivered}}
		})
		require.Equal(t, []string{"message:SENDING", "status:DELIVERED"}, f.sink.of(t, m.ID))

		m = overtake(func(own, id string) []provider.Event { // failed
			return []provider.Event{&provider.StatusChange{
				MessageID: id, OwnID: own, Status: provider.StatusFail, Error: &provider.Failure{Code: "131026", Message: "Undeliverable"},
			}}
		})
		require.Equal(t, []string{"message:FAIL"}, f.sink.of(t, m.ID))
		require.Equal(t, "131026", m.Error.Code)
	})
}

func TestSeveralStatusesByOwnIDOnly(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("open", "111", "hello"))
		f.net.fail(&provider.Ambiguous{})
		var evs []provider.Event
		var ids []string
		for i := range 3 {
			m := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", Content: provider.Text{Text: fmt.Sprint(i)}, Wait: timeout})
			evs = append(evs, &provider.StatusChange{OwnID: m.ID, Status: provider.StatusDelivered})
			ids = append(ids, m.ID)
		}
		f.receive(t, ref, evs...)
		for _, id := range ids {
			require.Equal(t, []string{"message:SENDING", "status:DELIVERED"}, f.sink.of(t, id))
		}
	})
}

// TestRacingStatusIsApplied is about a status that found no message because
// the transaction that names it had not committed yet.
func TestRacingStatusIsApplied(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("open", "111", "hello"))
		m := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", Wait: timeout})
		_, err := db.ExecContext(t.Context(), `INSERT INTO messaging_early_status (reference, message_id, status, error_code, error_message, at_us, window_us, created_us)
			VALUES ($1, $2, $3, '', '', 0, 0, $4)`, ref, m.ID, int(provider.StatusRead), epoch.UnixMicro())
		require.NoError(t, err)
		require.NoError(t, f.svc.ApplyEarlies(t.Context()))
		require.Equal(t, []string{"message:SENDING", "status:READ"}, f.sink.of(t, m.ID))
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_early_status`))
	})
}

func TestMarkRead(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		for i := range 5 {
			f.receive(t, ref, text(fmt.Sprintf("m%d", i), "111", "hello"))
		}
		left, err := f.acc.MarkRead(t.Context(), ref, "111", "m1")
		require.NoError(t, err)
		require.EqualValues(t, 3, left)
		require.Equal(t, []string{"message:DELIVERED", "status:READ"}, f.sink.of(t, "m0"))
		require.Equal(t, []string{"message:DELIVERED"}, f.sink.of(t, "m2"))
		for _, e := range f.sink.all(t) {
			require.Equal(t, "false", member(t, e.Payload, "mine"))
		}
		f.until(t, "the network is told", func() bool { return len(f.net.readIDs()) == 1 })
		require.Equal(t, []string{"m1"}, f.net.readIDs())

		f.receive(t, ref, status("m2", provider.StatusRead)) // read on the phone
		require.EqualValues(t, 2, f.chat(t, ref, "111").Unread)

		left, err = f.acc.MarkRead(t.Context(), ref, "111", "")
		require.NoError(t, err)
		require.Zero(t, left)
		require.Zero(t, f.chat(t, ref, "111").Unread)
		f.until(t, "the network is told", func() bool { return len(f.net.readIDs()) == 2 })
		require.Equal(t, []string{"m1", "m4"}, f.net.readIDs())

		events := len(f.sink.all(t))
		left, err = f.acc.MarkRead(t.Context(), ref, "111", "m0")
		require.NoError(t, err)
		require.Zero(t, left)
		require.Len(t, f.sink.all(t), events, "nothing was unread")

		_, err = f.acc.MarkRead(t.Context(), ref, "111", "nothing\x00")
		require.ErrorIs(t, err, messaging.ErrNotFound)
		_, err = f.acc.MarkRead(t.Context(), ref, "222", "")
		require.ErrorIs(t, err, messaging.ErrNotFound)
		f.receive(t, ref, text("other", "222", "hello"))
		_, err = f.acc.MarkRead(t.Context(), ref, "111", "other")
		require.ErrorIs(t, err, messaging.ErrNotFound)
	})
}
