package webtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// A client whose connection is lost, or that is told to restart, logs in again
// by itself.
func TestReconnects(t *testing.T) {
	t.Parallel()
	fake := start(t)
	c, device := link(t, fake, fake.AddPhone(nil))
	ctx := within(t)
	logins := len(device.Logins())
	for name, lose := range map[string]func(){
		"dropped": device.Drop, "all dropped": fake.DropAll, "restart": device.Restart,
		"outage": func() { device.StreamError("503") },
	} {
		lose()
		logins++
		require.NoError(t, device.AwaitLogins(ctx, logins), name)
		await[*events.Connected](c, nil)
	}
	device.Refuse(webtest.Refusal{Reason: webtest.ReasonUnavailable})
	device.Drop()
	require.NoError(t, device.AwaitLogins(ctx, logins+1))
}

// Every end that a client does not recover from is told as what it is.
func TestEnds(t *testing.T) {
	t.Parallel()
	fake := start(t)
	for name, end := range map[string]func(*client, *webtest.Device){
		"replaced": func(c *client, d *webtest.Device) {
			d.Replace()
			await[*events.StreamReplaced](c, nil)
		},
		"removed": func(c *client, d *webtest.Device) {
			d.Remove()
			require.False(t, await[*events.LoggedOut](c, nil).OnConnect)
			require.True(t, d.Removed())
		},
		"removed while away": func(c *client, d *webtest.Device) {
			c.Disconnect()
			d.Remove()
			require.NoError(t, c.Connect())
			require.True(t, await[*events.LoggedOut](c, nil).OnConnect)
		},
		"banned": func(c *client, d *webtest.Device) {
			d.Refuse(webtest.Refusal{Reason: webtest.ReasonTemporaryBan, Code: 101, Expire: time.Hour})
			d.Drop()
			ban := await[*events.TemporaryBan](c, nil)
			require.Equal(t, events.TempBanSentToTooManyPeople, ban.Code)
			require.Equal(t, time.Hour, ban.Expire)
		},
		"outdated": func(c *client, d *webtest.Device) {
			d.Refuse(webtest.Refusal{Times: -1, Reason: webtest.ReasonClientOutdated})
			d.Drop()
			await[*events.ClientOutdated](c, nil)
		},
		"logs out": func(c *client, d *webtest.Device) {
			require.NoError(t, c.Logout(t.Context()))
			require.NoError(t, d.AwaitRemoved(within(t)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, device := link(t, fake, fake.AddPhone(nil))
			end(c, device)
			require.NoError(t, device.AwaitGone(within(t)))
		})
	}
}

func TestRefuseEverybody(t *testing.T) {
	t.Parallel()
	fake := start(t)
	fake.Refuse(webtest.Refusal{Reason: webtest.ReasonClientOutdated})
	c := newClient(t, fake, sessions(t).NewDevice())
	require.NoError(t, c.Connect())
	await[*events.ClientOutdated](c, nil)
}

// A session that is opened twice is a conflict, and the newer one stays.
func TestConflict(t *testing.T) {
	t.Parallel()
	fake := webtest.Start(nil)
	t.Cleanup(fake.Close)
	owner := fake.AddPhone(nil)
	store := sessions(t)
	a := newClient(t, fake, store.NewDevice())
	device := pair(t, a, owner)
	devices, err := store.GetAllDevices(t.Context())
	require.NoError(t, err)
	b := newClient(t, fake, devices[0])
	require.NoError(t, b.Connect())
	await[*events.Connected](b, nil)
	await[*events.StreamReplaced](a, nil)
	require.NoError(t, fake.AwaitConflicts(within(t), 1))
	conflicts := fake.Conflicts()
	require.Equal(t, device.JID(), conflicts[0].Device)
	require.True(t, conflicts[0].Since.Before(conflicts[0].At))
	require.Equal(t, 1, fake.Live())
	require.True(t, b.IsConnected())
}

// A deaf connection answers nothing, and a new one is served.
func TestDeaf(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, device := link(t, fake, owner)
	ctx := within(t)
	device.Deafen()
	require.ErrorIs(t, c.SetPassive(short(t), false), context.DeadlineExceeded)
	_, err := ana.SendText(ctx, owner.LID(), "anybody there?")
	require.NoError(t, err)
	require.Equal(t, 1, device.Pending())
	c.ResetConnection()
	await(c, says("anybody there?"))

	device.Deafen()
	_, err = ana.SendText(ctx, owner.LID(), "and now?")
	require.NoError(t, err)
	device.Heal()
	await(c, says("and now?"))
}

// A deaf server greets nobody, until it hears again.
func TestDeafServer(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, device := link(t, fake, owner)
	ctx := within(t)
	require.NoError(t, device.AwaitIdle(ctx))
	fake.Deafen()
	_, err := ana.SendText(ctx, owner.LID(), "while connected")
	require.NoError(t, err)
	other := newClient(t, fake, sessions(t).NewDevice())
	require.NoError(t, other.Connect())
	require.Error(t, c.SetPassive(short(t), false))
	fake.Heal()
	await(c, says("while connected"))
	await[*events.Disconnected](other, nil) // one that is not linked does not try again by itself
	require.NoError(t, other.Connect())
	await[*events.QR](other, nil)
}

// A send is refused, lost, or taken without an answer.
func TestSendFaults(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, device := link(t, fake, owner)
	ctx := within(t)
	device.Fail(webtest.Fault{Code: webtest.CodeReachOut}, webtest.Fault{Lost: true}, webtest.Fault{Cut: true, Taken: true})
	_, err := c.SendMessage(ctx, ana.LID(), text("refused"))
	require.ErrorContains(t, err, "463")
	_, err = c.SendMessage(ctx, ana.LID(), text("lost"), whatsmeow.SendRequestExtra{Timeout: 50 * time.Millisecond})
	require.ErrorIs(t, err, whatsmeow.ErrMessageTimedOut)
	id := c.GenerateMessageID()
	_, err = c.SendMessage(ctx, ana.LID(), text("taken"), whatsmeow.SendRequestExtra{ID: id})                 // the client repeats it after it has reconnected
	for late := (*whatsmeow.DisconnectedError)(nil); errors.As(err, &late) && c.WaitForConnection(timeout); { // if that took it no longer than 5 s
		_, err = c.SendMessage(ctx, ana.LID(), text("taken"), whatsmeow.SendRequestExtra{ID: id})
	}
	require.NoError(t, err)
	require.Equal(t, 2, device.Sent(id))
	m, err := ana.Await(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, "taken", m.Text())
	require.Equal(t, 1, m.Copies)
	require.Len(t, ana.Messages(), 1)

	device.NotifyReachOut(time.Unix(2000000000, 0))
	lock := await[*events.NotifyAccountReachoutTimelock](c, nil)
	require.True(t, lock.IsActive)
	require.Equal(t, int64(2000000000), lock.TimeEnforcementEnds.Unix())
	device.NotifyReachOut(time.Time{})
	require.False(t, await[*events.NotifyAccountReachoutTimelock](c, nil).IsActive)
}

func TestPreKeysRunOut(t *testing.T) {
	t.Parallel()
	fake := start(t)
	_, device := link(t, fake, fake.AddPhone(nil))
	device.TakePreKeys(2)
	require.NoError(t, device.AwaitPreKeys(within(t), 40))
}

// A test sees every node before it is handled, and may take it.
func TestIntercept(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	c, device := link(t, fake, owner)
	ctx := within(t)
	received := make(chan struct{})
	fake.Intercept(func(d *webtest.Device, n *waBinary.Node) bool {
		if d == device && n.Tag == "receipt" {
			close(received)
			fake.Intercept(nil)
			return true
		}
		return false
	})
	id, err := ana.SendText(ctx, owner.LID(), "one")
	require.NoError(t, err)
	await(c, says("one"))
	<-received
	require.False(t, device.Acked(id))
	require.Equal(t, 1, device.Pending())
}
