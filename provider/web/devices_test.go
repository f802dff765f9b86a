package web_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestLinkedElsewhere links two references to one phone: each gets what is written
// to it, and what the other has sent, as its own.
func TestLinkedElsewhere(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		other := newReference(t, db, nil)
		other.owner = f.owner
		other.open(t)
		other.link(t)
		require.NotEqual(t, f.device.JID(), other.device.JID())
		id, err := ana.SendText(soon(t), f.owner.LID(), "to both")
		require.NoError(t, err)
		for _, l := range []*fixture{f, other} {
			require.False(t, l.inbox.message(t, id).Mine)
		}
		for i, pair := range [][2]*fixture{{f, other}, {other, f}} {
			sent := pair[0].answers(t, pair[0].number(t, ana), ana, provider.Text{Text: "from one"})
			copied := pair[1].inbox.message(t, sent.ID)
			require.True(t, copied.Mine)
			require.Equal(t, ana.JID().User, copied.Chat.Phone, i)
			require.Zero(t, pair[0].inbox.count(sent.ID), "it knows what it sent")
		}
		require.NoError(t, other.session.(provider.Linker).Unlink(soon(t)))
		require.NoError(t, other.device.AwaitRemoved(soon(t)))
		f.says(t, ana, textMessage("still there?"))
	})
}

// TestContactsNewDevice has a contact link a device after the reference has written:
// that gets what is written from then on.
func TestContactsNewDevice(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, theirs := paired(t, db), newReference(t, db, nil)
		ana := theirs.owner
		f.answers(t, f.number(t, ana), ana, provider.Text{Text: "to the phone"})
		theirs.open(t)
		theirs.link(t)
		require.NoError(t, f.device.AwaitIdle(soon(t)), "it was told")
		sent := f.answers(t, f.number(t, ana), ana, provider.Text{Text: "to both"})
		got := theirs.inbox.message(t, sent.ID)
		require.Equal(t, provider.Text{Text: "to both"}, got.Content)
		require.Equal(t, f.owner.JID().User, got.Chat.Phone)
	})
}

// TestRemovedWhileAway takes a reference off the phone while it is not connected: it
// learns that when it logs in.
func TestRemovedWhileAway(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := paired(t, db)
		f.close(t)
		require.NoError(t, f.device.AwaitGone(soon(t)))
		f.inbox.clear()
		f.device.Remove()
		f.open(t)
		require.Equal(t, provider.RemovedOnPhone, f.inbox.state(t, provider.LoggedOut).Reason)
		require.False(t, f.inbox.has(provider.Connected))
	})
}

// TestLinkAfterRemoval links a reference again as soon as it says that it was
// removed, while its old keys may still be on their way out.
func TestLinkAfterRemoval(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		for range 3 {
			f.device.Remove()
			f.inbox.state(t, provider.LoggedOut)
			f.inbox.clear()
			f.link(t)
			f.says(t, ana, textMessage("hello again"))
		}
		f.close(t)
		f.inbox.clear()
		f.open(t)
		f.inbox.state(t, provider.Connected)
		f.says(t, ana, textMessage("the new keys are the ones that are kept"))
	})
}

// TestForgedCode is scanned by a phone that was shown another secret: the reference
// does not take its account.
func TestForgedCode(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := newReference(t, db, nil)
		f.open(t)
		require.NoError(t, f.session.(provider.Linker).Link(soon(t), ""))
		shown := await(t, f.inbox, func(c *provider.Connection) bool { return c.QR != "" })
		parts := strings.Split(shown.QR, ",")
		parts[3] = parts[2]
		_, err := f.owner.Scan(soon(t), strings.Join(parts, ","))
		require.Error(t, err)
		over := f.inbox.state(t, provider.Disconnected)
		require.Equal(t, provider.UnknownReason, over.Reason)
		require.Contains(t, over.Detail, "phone")
		f.inbox.clear()
		f.link(t)
	})
}

// TestCutWhileSending loses the connection before the answer to a message: it
// is sent again under its id, and shown once.
func TestCutWhileSending(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		f.device.Fail(webtest.Fault{Cut: true, Taken: true})
		out := provider.Outbound{ID: f.p.NewMessageID(), To: f.number(t, ana), Content: provider.Text{Text: "once"}}
		ctx := soon(t)
		_, err := f.session.Send(ctx, out)
		if err != nil { // what is not known is repeated by who has the message
			var unsure *provider.Ambiguous
			require.ErrorAs(t, err, &unsure)
			_, err = f.session.Send(ctx, out)
		}
		for notYet := (*provider.Temporary)(nil); errors.As(err, &notYet) && ctx.Err() == nil; { // it was long in coming back
			_, err = f.session.Send(ctx, out)
		}
		require.NoError(t, err)
		got, err := ana.AwaitText(soon(t), "once")
		require.NoError(t, err)
		require.Equal(t, out.ID, got.ID)
		require.Equal(t, 2, f.device.Sent(out.ID))
		require.Len(t, ana.Messages(), 1)
	})
}

// TestKeysRunOut lets strangers use up the keys that the network has for them:
// the reference makes new ones, and who begins a chat meanwhile is understood.
func TestKeysRunOut(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := paired(t, db)
		f.device.TakePreKeys(1)
		for range 3 {
			f.says(t, fake.AddPhone(nil), textMessage("nice to meet you"))
		}
		require.NoError(t, f.device.AwaitPreKeys(soon(t), 20))
	})
}
