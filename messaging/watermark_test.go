package messaging_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// watermark says that the chat 111 has a status up to a time.
func watermark(s provider.Status, upTo time.Time) *provider.StatusChange {
	return &provider.StatusChange{Status: s, UpTo: upTo, At: upTo, To: provider.Address{ChatID: "111", Phone: "111"}}
}

// inbox is what a person wrote to 111 for the account.
func inboxText(id string, at time.Time) *provider.Message {
	return text(id, "111", id, func(m *provider.Message) { m.Mine, m.At = true, at })
}

// TestWatermarks lifts what has left and is not newer, whenever it is stored.
func TestWatermarks(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, watermark(provider.StatusRead, epoch.Add(-time.Hour)))
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_chat WHERE activity_us > 0`), "a mark makes no chat that is shown")
		f.receive(t, ref, text("open", "111", "hello"))
		send := func() messaging.Message {
			f.clock.Advance(10 * time.Second)
			return f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", Wait: timeout})
		}
		status := func(id string) string { return f.message(t, ref, "111", id).Status }
		a, b, c := send(), send(), send() // at 10, 20, 30 s
		at := func(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

		f.receive(t, ref, watermark(provider.StatusRead, at(20)))
		require.Equal(t, []string{"READ", "READ", "SENDING"}, []string{status(a.ID), status(b.ID), status(c.ID)})
		require.Equal(t, []string{"message:SENDING", "message:SENDING", "status:READ", "status:READ"}, f.sink.of(t, a.ID, b.ID))
		f.receive(t, ref, watermark(provider.StatusRead, at(20)), watermark(provider.StatusDelivered, at(5)), watermark(provider.StatusRead, at(15)))
		require.Len(t, f.sink.of(t, a.ID, b.ID, c.ID), 5, "an older mark changes nothing")
		f.receive(t, ref, watermark(provider.StatusDelivered, at(30)), watermark(provider.StatusRead, at(35)))
		require.Equal(t, []string{"message:SENDING", "status:DELIVERED", "status:READ"}, f.sink.of(t, c.ID))
		require.Equal(t, "DELIVERED", status("open"), "what the contact wrote is not meant")

		// Stored after it, a message is lifted when its own time says so.
		f.receive(t, ref, inboxText("before", at(33)), inboxText("after", at(36)))
		require.Equal(t, []string{"READ", "SENDING"}, []string{status("before"), status("after")})
		require.Equal(t, "message:SENDING", f.sink.of(t, "before")[0])
		d := send() // at 40 s of our clock
		require.Equal(t, "SENDING", status(d.ID))
		f.receive(t, ref, watermark(provider.StatusRead, at(36)), inboxText("with it", at(35)))
		require.Equal(t, []string{"READ", "READ", "SENDING"}, []string{status("after"), status("with it"), status(d.ID)})
		require.Equal(t, []string{"message:SENDING", "status:READ"}, f.sink.of(t, "with it"))

		// The network's own clock wins, once its echo tells it.
		own := f.net.attempts()[3].ID
		echo := inboxText(d.ID, at(36))
		echo.OwnID = own
		f.receive(t, ref, echo)
		require.Equal(t, "READ", status(d.ID))
	})
}

// TestMarksLeaveWhatHasNotLeft: what failed, waits or is in doubt was read by
// nobody.
func TestMarksLeaveWhatHasNotLeft(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("open", "111", "hello"))
		f.net.script(func(_ netctx, out provider.Outbound, _ int) (provider.Receipt, error) {
			switch out.Content.(provider.Text).Text {
			case "refused":
				return provider.Receipt{}, &provider.Rejected{Code: "1", Message: "no"}
			case "doubtful":
				return provider.Receipt{}, &provider.Ambiguous{}
			}
			return f.net.taken(out), nil
		})
		send := func(words string) messaging.Message {
			sent, _ := f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: "111", Content: provider.Text{Text: words}, Wait: timeout})
			return sent.Message
		}
		refused, doubtful := send("refused"), send("doubtful")
		f.receive(t, ref, watermark(provider.StatusRead, epoch.Add(time.Minute)))
		require.Equal(t, "FAIL", f.message(t, ref, "111", refused.ID).Status)
		require.Equal(t, "PENDING", f.message(t, ref, "111", doubtful.ID).Status)

		// The echo settles what was in doubt, which the mark then covers.
		echo := inboxText("mid.1", epoch.Add(time.Second))
		echo.OwnID = doubtful.ID
		f.receive(t, ref, echo)
		require.Equal(t, []string{"message:SENDING", "status:READ"}, f.sink.of(t, "mid.1"))
		got := f.message(t, ref, "111", "mid.1")
		require.Equal(t, "READ", got.Status)
		require.Nil(t, got.Error)
		require.Equal(t, messaging.ActorAPI, got.Actor)
		require.Len(t, f.messages(t, ref, "111"), 3, "the echo is no message of its own")
	})
}

// TestEchoes: of another's messages those of people pause the bot, and those
// of programs do not; ours is one message, whichever comes first.
func TestEchoes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("open", "111", "hello"))
		f.net.script(func(_ netctx, out provider.Outbound, _ int) (provider.Receipt, error) {
			r := f.net.taken(out)
			echo := inboxText(r.MessageID, epoch)
			echo.OwnID, echo.App = out.ID, "7"
			f.receive(t, ref, echo) // before the answer
			return r, nil
		})
		m := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", Wait: timeout})
		require.Equal(t, []string{"message:SENDING"}, f.sink.of(t, m.ID))
		program, foreign := inboxText("program", epoch), inboxText("foreign", epoch)
		program.App, foreign.App, foreign.OwnID = "8", "8", "what another program calls it"
		f.receive(t, ref, program, foreign)
		require.Len(t, f.messages(t, ref, "111"), 4)
		require.Equal(t, messaging.ActorAPI, f.message(t, ref, "111", "program").Actor)
		require.Nil(t, f.chat(t, ref, "111").Handoff)
		f.receive(t, ref, inboxText("person", epoch))
		require.Equal(t, messaging.ActorPhone, f.message(t, ref, "111", "person").Actor)
		require.NotNil(t, f.chat(t, ref, "111").Handoff)
	})
}

// TestHandovers: somebody else answers, until the conversation comes back.
func TestHandovers(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		hand := func(id string, owner provider.HandoverOwner, at time.Duration) provider.Event {
			return &provider.Handover{
				Raw: provider.Raw{ID: id, Kind: "handover", Body: []byte(`{}`)}, What: id, Owner: owner, At: epoch.Add(at),
				Chat: provider.Address{ChatID: "111", Phone: "111"},
			}
		}
		f.receive(t, ref, text("open", "111", "hello"), hand("asked", provider.HandoverSame, 0))
		require.Nil(t, f.chat(t, ref, "111").Handoff)
		f.receive(t, ref, hand("taken", provider.HandoverTheirs, time.Second))
		require.NotNil(t, f.chat(t, ref, "111").Handoff)
		f.receive(t, ref, hand("passed", provider.HandoverOurs, 2*time.Second), hand("taken", provider.HandoverTheirs, time.Second))
		require.Nil(t, f.chat(t, ref, "111").Handoff)
		f.receive(t, ref, text("standby", "111", "to you?", func(m *provider.Message) { m.Standby = true }))
		require.NotNil(t, f.chat(t, ref, "111").Handoff)
		f.receive(t, ref, &provider.Handover{Raw: provider.Raw{ID: "roles", Kind: "handover", Body: []byte(`{}`)}, What: "app_roles"})
		require.Equal(t, 4, count(t, db, `SELECT count(*) FROM messaging_raw WHERE kind = 'handover'`))
	})
}

// TestMarksInAnyOrder shuffles messages of the account and marks: each ends as
// the highest mark that is not older than it says.
func TestMarksInAnyOrder(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		for round := range testkit.Rounds(3) {
			ref := f.reference(t, testKind)
			var evs []provider.Event
			want := map[string]string{}
			read, delivered := rand.IntN(20), rand.IntN(20)
			for i := range 20 {
				id := fmt.Sprintf("m%d.%d", round, i)
				evs = append(evs, inboxText(id, epoch.Add(time.Duration(i)*time.Second)))
				switch {
				case i <= read:
					want[id] = "READ"
				case i <= delivered:
					want[id] = "DELIVERED"
				default:
					want[id] = "SENDING"
				}
			}
			for s, highest := range map[provider.Status]int{provider.StatusRead: read, provider.StatusDelivered: delivered} {
				for _, upTo := range append(rand.Perm(highest+1), highest) {
					evs = append(evs, watermark(s, epoch.Add(time.Duration(upTo)*time.Second)))
				}
			}
			rand.Shuffle(len(evs), func(i, j int) { evs[i], evs[j] = evs[j], evs[i] })
			for len(evs) > 0 {
				n := min(len(evs), 1+rand.IntN(12))
				f.receive(t, ref, evs[:n]...)
				evs = evs[n:]
			}
			got := map[string]string{}
			for _, m := range f.messages(t, ref, "111") {
				got[m.ID] = m.Status
				require.Equal(t, "message:SENDING", f.sink.of(t, m.ID)[0], "told before what becomes of it")
			}
			require.Equal(t, want, got, "round %d", round)
		}
	})
}
