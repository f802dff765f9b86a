package web_test

import (
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestDropWhileGreeting loses connections after the login, while whatsmeow says
// that it wants its messages: it reports each as connected once it is lost.
func TestDropWhileGreeting(t *testing.T) {
	t.Parallel()
	own := webtest.Start(&webtest.Options{Logger: slog.New(slog.DiscardHandler)}) // for it intercepts
	t.Cleanup(own.Close)
	db := testkit.Open(t, testkit.SQLiteURL(t))
	require.NoError(t, web.Migrate(soon(t), db))
	root, clock := own.RootKey(), newClock()
	p, err := web.New(soon(t), db, &web.Options{HTTPClient: own.HTTPClient(), RootKey: &root, Rates: fast, Now: clock.now})
	require.NoError(t, err)
	f := &fixture{p: p, db: db, clock: clock, owner: own.AddPhone(nil), inbox: newInbox()}
	f.ref = provider.Reference{ID: provider.ReferenceID(refs.Add(1)), Settings: provider.Settings{}}
	f.open(t)
	f.link(t)

	const drops = 2
	var left atomic.Int32
	left.Store(drops)
	var dropped testsignal.Signal
	own.Intercept(func(d *webtest.Device, n *waBinary.Node) bool {
		if n.Tag != "iq" || n.Attrs["xmlns"] != "passive" || left.Add(-1) < 0 {
			return false
		}
		dropped.Send()
		d.Drop()
		return true
	})
	f.device.Drop()
	require.NoError(t, f.device.AwaitLogins(soon(t), len(f.device.Logins())+1))
	testkit.Until(t, []*testsignal.Signal{&dropped}, func() bool { return left.Load() <= 0 })
	require.NoError(t, f.device.AwaitActive(soon(t)))
	ana := own.AddPhone(nil)
	id, err := ana.SendText(soon(t), f.owner.LID(), "Hello")
	require.NoError(t, err)
	f.inbox.message(t, id)
}
