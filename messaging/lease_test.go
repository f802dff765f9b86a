package messaging_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// node is a service of a network that references are connected to.
func node(t testing.TB, db *sqlx.DB, w *wire, exclusive bool) *fixture {
	t.Helper()
	require.NoError(t, queue.SetExpiry(t.Context(), db, 24*time.Hour)) // no node takes another for dead
	return setup(t, db, config{options: func(o *messaging.Options) {
		o.Providers = append(o.Providers, w.provider())
		o.Exclusive = exclusive
	}})
}

func (f *fixture) awaitState(t testing.TB, ref provider.ReferenceID, want messaging.State) messaging.Session {
	t.Helper()
	var s messaging.Session
	f.until(t, string(want), func() bool {
		var err error
		s, err = f.acc.Sessions().Status(t.Context(), ref)
		require.NoError(t, err)
		return s.State == want
	})
	return s
}

// TestLink links a reference to a phone, starts again without the phone, and takes
// it off.
func TestLink(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		w := newWire()
		f := node(t, db, w, true)
		ref := f.reference(t, kindWire)
		s, err := f.acc.Sessions().Status(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, messaging.StateStopped, s.State)
		_, err = f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: "1", Content: provider.Text{Text: "hi"}})
		require.ErrorContains(t, err, "session")

		s, err = f.acc.Sessions().Start(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, messaging.StateStarting, s.State)
		s = f.awaitState(t, ref, messaging.StatePairing)
		require.Contains(t, s.QR.Code, "https://example.org/link#")
		require.True(t, strings.HasPrefix(s.QR.Image, "data:image/png;base64,"))
		require.Nil(t, s.PairingCode)
		require.NotNil(t, s.Node)

		_, err = f.acc.Sessions().Link(t.Context(), ref, "49151")
		require.NoError(t, err)
		f.until(t, "a code", func() bool {
			s, err = f.acc.Sessions().Status(t.Context(), ref)
			require.NoError(t, err)
			return s.PairingCode != nil && *s.PairingCode == "ABCD1234" && s.QR == nil
		})

		require.NoError(t, w.scan(t.Context(), ref))
		s = f.awaitState(t, ref, messaging.StateConnected)
		require.Nil(t, s.QR)
		require.Equal(t, "49151", s.Account.ID)
		require.Equal(t, "SENDING", f.send(t, messaging.SendRequest{Reference: ref, ChatID: "1", Wait: timeout}).Status)

		f.stop()
		_, _, opened, _ := w.counts()
		again := node(t, db, w, true)
		w.until(t, db, "opened again", func() bool { _, _, n, _ := w.counts(); return n == opened+1 })
		again.send(t, messaging.SendRequest{Reference: ref, ChatID: "1", Wait: timeout})

		s, err = again.acc.Sessions().Logout(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, messaging.StateLoggedOut, s.State)
		w.until(t, db, "forgotten", func() bool {
			connected, _, _, linked := w.counts()
			return connected == 0 && linked == 0 && count(t, db, `SELECT count(*) FROM messaging_lease`) == 0
		})
		again.awaitState(t, ref, messaging.StateLoggedOut)
		_, conflicts, _, _ := w.counts()
		require.Zero(t, conflicts)
	})
}

// TestRestart_Unwritable starts again while the database cannot be written: the reference
// is connected as soon as it can.
func TestRestart_Unwritable(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		w := newWire()
		f := node(t, db, w, true)
		ref := f.linked(t, w)
		f.stop()
		_, _, opened, _ := w.counts()
		seen, asked := testkit.Counting(t, db)
		const release = "messaging_lease SET node = ''"
		asked.LoseCommits(release, 1)
		again := node(t, seen, w, true)
		w.until(t, db, "opened again", func() bool { _, _, n, _ := w.counts(); return n == opened+1 })
		again.awaitState(t, ref, messaging.StateConnected)
		require.GreaterOrEqual(t, asked.Of(release), 2)
	})
}

// TestRemovedOnPhone forgets a reference that its phone took off, and links it again.
func TestRemovedOnPhone(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		w := newWire()
		f := node(t, db, w, true)
		ref := f.linked(t, w)
		require.NoError(t, w.remove(t.Context(), ref))
		s := f.awaitState(t, ref, messaging.StateLoggedOut)
		require.Equal(t, "logged_out_on_phone", s.LastError.Code)
		w.until(t, db, "forgotten", func() bool { _, _, _, linked := w.counts(); return linked == 0 })
		_, err := f.acc.Sessions().Start(t.Context(), ref)
		require.NoError(t, err)
		require.Nil(t, f.awaitState(t, ref, messaging.StatePairing).LastError)

		require.NoError(t, f.acc.References().Delete(t.Context(), ref))
		w.until(t, db, "closed", func() bool {
			connected, _, _, _ := w.counts()
			return connected == 0 && count(t, db, `SELECT count(*) FROM messaging_lease`) == 0
		})
	})
}

// linked makes a reference that a phone has linked.
func (f *fixture) linked(t testing.TB, w *wire) provider.ReferenceID {
	t.Helper()
	ref := f.reference(t, kindWire)
	_, err := f.acc.Sessions().Start(t.Context(), ref)
	require.NoError(t, err)
	f.awaitState(t, ref, messaging.StatePairing)
	require.NoError(t, w.scan(t.Context(), ref))
	f.awaitState(t, ref, messaging.StateConnected)
	return ref
}

// TestHandOver moves references from a node that ends to another: what is sent
// meanwhile waits, and no reference is twice.
func TestHandOver(t *testing.T) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		url, w := testkit.PostgresURL(t), newWire()
		a := node(t, testkit.Open(t, url), w, false)
		var refs []provider.ReferenceID
		for range 5 {
			refs = append(refs, a.linked(t, w))
		}
		b := node(t, testkit.Open(t, url), w, false)
		for round := range 3 {
			for _, ref := range refs {
				b.send(t, messaging.SendRequest{Reference: ref, ChatID: "1", Wait: timeout}) // from where it does not stand
			}
			a.stop()
			for _, ref := range refs {
				sent := b.send(t, messaging.SendRequest{Reference: ref, ChatID: "1", Wait: timeout})
				require.Equal(t, "SENDING", sent.Status, "round %d", round)
			}
			a, b = b, node(t, testkit.Open(t, url), w, false)
		}
		w.until(t, b.db, "all stand", func() bool { connected, _, _, _ := w.counts(); return connected == 5 })
		_, conflicts, _, _ := w.counts()
		require.Zero(t, conflicts)
		for id, n := range w.sent {
			require.Equal(t, 1, n, id)
		}
	})
}

// TestTakeOver takes the references of a node that says nothing any more.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, w := testkit.Open(t, testkit.SQLiteURL(t)), newWire()
		f := node(t, db, w, false)
		ref := f.linked(t, w)
		old := w.session(ref)
		// Another node took the reference: this one had slept, and its lease had ended.
		_, err := db.ExecContext(t.Context(), `UPDATE messaging_lease SET node = 'other', fence = fence + 1,
			until_us = until_us + 3600000000 WHERE reference = $1`, ref)
		require.NoError(t, err)
		w.until(t, db, "let go", func() bool { return w.session(ref) == nil })
		require.False(t, old.ref.Leased())
		require.Error(t, old.in.Receive(t.Context(), ref, []provider.Event{text("m1", "1", "late")}))
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_message`))

		waits := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "1", Wait: time.Millisecond})
		require.Equal(t, "PENDING", waits.Status)
		_, err = db.ExecContext(t.Context(), `UPDATE messaging_lease SET until_us = 1 WHERE reference = $1`, ref) // its lease ends
		require.NoError(t, err)
		w.until(t, db, "taken over, for the other says nothing", func() bool { return w.session(ref) != nil })
		f.until(t, "sent", func() bool { return f.messages(t, ref, "1")[0].Status == "SENDING" })
		_, conflicts, _, _ := w.counts()
		require.Zero(t, conflicts)
	})
}

// TestParked leaves a reference alone that its network has banned, until the ban
// ends.
func TestParked(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		w := newWire()
		f := node(t, db, w, false)
		ref := f.linked(t, w)
		_, _, opened, _ := w.counts()
		until := time.Now().Add(2 * time.Second)
		require.NoError(t, w.session(ref).report(t.Context(), &provider.Connection{
			State: provider.Disconnected, Reason: provider.Banned, Detail: "Too many strangers.", Until: until,
		}))
		// What was told stays; the state may be the next before anybody looks.
		published := f.sink.all(t)
		var failed messaging.SessionPayload
		require.NoError(t, json.Unmarshal(published[len(published)-1].Payload, &failed))
		require.Equal(t, messaging.StateFailed, failed.State)
		require.Equal(t, "banned", failed.LastError.Code)
		require.NotNil(t, failed.LastError.RetryAt)
		w.until(t, db, "opened again", func() bool { _, _, n, _ := w.counts(); return n == opened+1 })
		require.False(t, time.Now().Before(until))
		require.Equal(t, 1, w.closes(), "it was closed meanwhile")
		f.awaitState(t, ref, messaging.StateConnected)
	})
}
