package messaging_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

func keyed(ref provider.ReferenceID, words, key string) messaging.SendRequest {
	req := say(ref, words)
	req.IdempotencyKey = key
	return req
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		first, err := f.acc.Send(t.Context(), keyed(ref, "hi", "k1"))
		require.NoError(t, err)
		require.False(t, first.Replayed)
		f.receive(t, ref, status(first.Message.ID, provider.StatusRead))
		again, err := f.acc.Send(t.Context(), keyed(ref, "hi", "k1"))
		require.NoError(t, err)
		require.True(t, again.Replayed)
		require.Equal(t, first.Message.ID, again.Message.ID)
		require.Equal(t, "READ", again.Message.Status, "the current record")
		_, err = f.acc.Send(t.Context(), keyed(ref, "another body", "k1"))
		requireCode(t, err, messaging.CodeConflict)
		other := f.svc.For("other")
		theirs, err := other.References().Create(t.Context(), messaging.NewReference{Name: "x", Type: ownIDsKind})
		require.NoError(t, err)
		sent, err := other.Send(t.Context(), keyed(theirs.ID, "hi", "k1"))
		require.NoError(t, err)
		require.False(t, sent.Replayed, "a key belongs to its account")
		require.Equal(t, []string{"hi", "hi"}, f.net.texts())

		for _, bad := range []string{"two words", "ü", strings.Repeat("x", 256), "\x00"} {
			_, err = f.acc.Send(t.Context(), keyed(ref, "hi", bad))
			requireInvalid(t, err, "Idempotency-Key")
		}
		f.clock.Advance(25 * time.Hour)
		require.NoError(t, f.svc.Prune(t.Context()))
		f.receive(t, ref, text("reopen", "111", "hello", func(m *provider.Message) { m.At = f.clock.Now() }))
		sent, err = f.acc.Send(t.Context(), keyed(ref, "hi", "k1"))
		require.NoError(t, err)
		require.False(t, sent.Replayed, "keys are kept for a day")
	})
}

func TestIdempotencyUnderLoad(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, ownIDsKind) // the chat is new, too
		var g errgroup.Group
		got := make([]messaging.Sent, 20)
		for i := range got {
			g.Go(func() (err error) {
				got[i], err = f.acc.Send(t.Context(), keyed(ref, "hi", "k1"))
				return err
			})
		}
		require.NoError(t, g.Wait())
		fresh := 0
		for _, s := range got {
			require.Equal(t, got[0].Message.ID, s.Message.ID)
			require.Equal(t, "SENDING", s.Message.Status, "those that come second wait as well")
			if !s.Replayed {
				fresh++
			}
		}
		require.Equal(t, 1, fresh)
		require.Equal(t, []string{"hi"}, f.net.texts())
	})
}

func TestRefusalsAreNotRemembered(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		f.net.fail(&provider.WindowClosed{Message: "closed"})
		_, err := f.acc.Send(t.Context(), keyed(ref, "hi", "k1")) // by the network
		requireCode(t, err, messaging.CodeWindowClosed)
		f.net.script(nil)
		sent, err := f.acc.Send(t.Context(), keyed(ref, "hi", "k1"))
		require.NoError(t, err)
		require.False(t, sent.Replayed)
		require.Equal(t, "SENDING", sent.Message.Status)

		_, err = f.acc.Sessions().Logout(t.Context(), ref)
		require.NoError(t, err)
		_, err = f.acc.Send(t.Context(), keyed(ref, "hi", "k2")) // by us
		requireCode(t, err, messaging.CodeSessionNotConnected)
		_, err = f.acc.Sessions().Start(t.Context(), ref)
		require.NoError(t, err)
		sent, err = f.acc.Send(t.Context(), keyed(ref, "another body", "k2"))
		require.NoError(t, err)
		require.False(t, sent.Replayed)

		// What the network refuses with words of its own is remembered.
		f.net.fail(&provider.Rejected{Code: "1", Message: "no"})
		_, err = f.acc.Send(t.Context(), keyed(ref, "three", "k3"))
		refused := requireCode(t, err, messaging.CodeProvider)
		sent, err = f.acc.Send(t.Context(), keyed(ref, "three", "k3"))
		require.NoError(t, err)
		require.True(t, sent.Replayed)
		require.Equal(t, refused.MessageID, sent.Message.ID)
	})
}
