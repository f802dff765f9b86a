package web_test

import (
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestQR links a reference by QR, closes it, and opens it again without the phone.
func TestQR(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := paired(t, db)
		up := f.inbox.state(t, provider.Connected)
		require.Equal(t, f.owner.JID().User, up.Account.ID)
		shown := await(t, f.inbox, func(c *provider.Connection) bool { return c.State == provider.Pairing })
		require.Equal(t, f.clock.now().Add(time.Minute), shown.Expires)

		f.close(t)
		require.NoError(t, f.device.AwaitGone(soon(t)))
		f.inbox.clear()
		f.open(t)
		f.inbox.state(t, provider.Connected)
		require.Len(t, f.device.Logins(), 2)
		require.Zero(t, f.conflicts())
	})
}

// TestQRRotates lets nobody scan: each code has its time and then the next one
// takes its place, with new ones from the network twice. Then the reference gives up,
// until somebody links it again; a late code is as good as the first.
func TestQRRotates(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := newReference(t, db, nil)
		f.open(t)
		require.NoError(t, f.session.(provider.Linker).Link(soon(t), ""))
		const rounds, codes = 3, 6
		seen := map[string]bool{}
		next := func() *provider.Connection {
			shown := await(t, f.inbox, func(c *provider.Connection) bool { return c.QR != "" && !seen[c.QR] })
			seen[shown.QR] = true
			return shown
		}
		for i := range rounds * codes {
			shown, ttl := next(), 20*time.Second
			if i%codes == 0 {
				ttl = time.Minute
			}
			require.Equal(t, provider.Pairing, shown.State)
			require.Equal(t, f.clock.now().Add(ttl), shown.Expires)
			f.clock.add(ttl - 1)
			require.False(t, f.inbox.has(provider.Disconnected))
			f.clock.add(1)
		}
		over := f.inbox.state(t, provider.Disconnected)
		require.Equal(t, provider.UnknownReason, over.Reason)
		require.NotEmpty(t, over.Detail)
		require.True(t, over.Until.IsZero())
		require.Len(t, seen, rounds*codes)

		require.NoError(t, f.session.(provider.Linker).Link(soon(t), ""))
		for range codes {
			f.clock.add(next().Expires.Sub(f.clock.now()))
		}
		_, err := f.owner.Scan(soon(t), next().QR) // of the second round
		require.NoError(t, err)
		f.inbox.state(t, provider.Connected)
	})
}

// TestCodeExpires shows a code to type that nobody types.
func TestCodeExpires(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := newReference(t, db, nil)
		f.open(t)
		require.NoError(t, f.session.(provider.Linker).Link(soon(t), f.owner.JID().User))
		shown := await(t, f.inbox, func(c *provider.Connection) bool { return c.Code != "" })
		f.clock.add(shown.Expires.Sub(f.clock.now()))
		require.Equal(t, provider.UnknownReason, f.inbox.state(t, provider.Disconnected).Reason)
	})
}

// TestCode links a reference by a code that is typed on the phone.
func TestCode(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := newReference(t, db, nil)
		f.open(t)
		require.NoError(t, f.session.(provider.Linker).Link(soon(t), f.owner.JID().User))
		shown := await(t, f.inbox, func(c *provider.Connection) bool { return c.Code != "" })
		require.Equal(t, provider.Pairing, shown.State)
		require.Empty(t, shown.QR)
		_, err := f.owner.EnterCode(soon(t), shown.Code)
		require.NoError(t, err)
		f.inbox.state(t, provider.Connected)
	})
}

// TestUnlink takes a reference off its phone and forgets it.
func TestUnlink(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := paired(t, db)
		require.NoError(t, f.session.(provider.Linker).Unlink(soon(t)))
		require.NoError(t, f.device.AwaitRemoved(soon(t)))
		f.close(t)
		require.NoError(t, f.p.Forget(soon(t), f.ref.ID))
		for _, table := range []string{"web_device", "web_lid", "web_history", "web_contacts", "web_outreach"} {
			var n int
			require.NoError(t, db.Get(&n, `SELECT count(*) FROM `+table+` WHERE reference = $1`, f.ref.ID))
			require.Zero(t, n, table)
		}
		var keys int
		require.NoError(t, db.Get(&keys, `SELECT count(*) FROM whatsmeow_device`))
		require.Zero(t, keys)
	})
}

// TestEnds are the ways in which a network ends a connection for good.
func TestEnds(t *testing.T) {
	t.Parallel()
	ends := map[string]struct {
		do     func(*webtest.Device)
		state  provider.ConnectionState
		reason provider.ConnectionCode
		until  bool
	}{
		"removed on the phone": {func(d *webtest.Device) { d.Remove() }, provider.LoggedOut, provider.RemovedOnPhone, false},
		"replaced":             {func(d *webtest.Device) { d.Replace() }, provider.Disconnected, provider.Replaced, false},
		"banned": {func(d *webtest.Device) {
			d.Refuse(webtest.Refusal{Reason: webtest.ReasonTemporaryBan, Code: 101, Expire: time.Hour})
			d.Drop()
		}, provider.Disconnected, provider.Banned, true},
		"outdated": {func(d *webtest.Device) {
			d.Refuse(webtest.Refusal{Reason: webtest.ReasonClientOutdated})
			d.Drop()
		}, provider.Disconnected, provider.ClientOutdated, false},
		"refused": {func(d *webtest.Device) {
			d.Refuse(webtest.Refusal{Reason: 418})
			d.Drop()
		}, provider.Disconnected, provider.UnknownReason, false},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, db *sqlx.DB) {
				f := paired(t, db)
				end.do(f.device)
				c := f.inbox.state(t, end.state)
				require.Equal(t, end.reason, c.Reason)
				require.NotEmpty(t, c.Detail)
				require.Equal(t, end.until, !c.Until.IsZero())
				_, err := f.session.Send(soon(t), provider.Outbound{ID: "1", To: f.number(t, f.owner), Content: provider.Text{Text: "hi"}})
				var later *provider.Temporary
				require.ErrorAs(t, err, &later)
				require.ErrorIs(t, err, whatsmeow.ErrNotLoggedIn, "nobody waits for it to come back")
			})
		})
	}
}

// TestComesBack are the ways in which a connection is lost and comes back.
func TestComesBack(t *testing.T) {
	t.Parallel()
	losses := map[string]func(*webtest.Device){
		"cut":     func(d *webtest.Device) { d.Drop() },
		"outage":  func(d *webtest.Device) { d.StreamError("503") },
		"restart": func(d *webtest.Device) { d.Restart() },
		"failure": func(d *webtest.Device) {
			d.Refuse(webtest.Refusal{Reason: webtest.ReasonInternal})
			d.Drop()
		},
		"busy": func(d *webtest.Device) {
			d.Refuse(webtest.Refusal{Reason: webtest.ReasonUnavailable})
			d.Drop()
		},
	}
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, db *sqlx.DB) {
				f := paired(t, db)
				f.inbox.clear()
				lose(f.device)
				f.inbox.state(t, provider.Connected)
				require.NoError(t, f.device.AwaitActive(soon(t)))
				ana := fake.AddPhone(nil)
				id, err := ana.SendText(soon(t), f.owner.LID(), "still there?")
				require.NoError(t, err)
				f.inbox.message(t, id)
			})
		})
	}
}

// TestTwice opens a reference that is open already, as two nodes would that both
// believe to hold it: the first says so and leaves it to the second.
func TestTwice(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := paired(t, db)
		second := *f
		second.inbox = newInbox()
		second.open(t)
		second.inbox.state(t, provider.Connected)
		require.Equal(t, provider.Replaced, f.inbox.state(t, provider.Disconnected).Reason)
		second.says(t, fake.AddPhone(nil), textMessage("to the second"))
		require.Len(t, f.device.Logins(), 2, "they do not take it from each other")
	})
}

// TestProxy leads a reference through a proxy of its own, files too.
func TestProxy(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		proxy := fake.StartProxy()
		t.Cleanup(proxy.Close)
		at, err := url.Parse(proxy.URL)
		require.NoError(t, err)
		at.User = url.UserPassword("user", "secret")
		f := newPaced(t, db, nil, fast, "127.0.0.1")
		f.ref.Settings["proxyUrl"] = at.String()
		f.open(t)
		f.link(t)
		ana := fake.AddPhone(nil)
		f.fetch(t, f.says(t, ana, uploaded(t, ana, provider.Image, []byte("a picture"))).Content, []byte("a picture"))
		hosts := map[string]bool{}
		for _, r := range proxy.Requests() {
			hosts[r.Host] = true
			require.NotEmpty(t, r.Auth)
		}
		require.True(t, hosts["web.whatsapp.com:443"])
		require.Greater(t, len(hosts), 1)

		f.close(t)
		f.ref.Settings["proxyUrl"] = "ftp://user:secret@proxy.example"
		f.open(t)
		wrong := f.inbox.state(t, provider.Disconnected).Detail
		require.Contains(t, wrong, "proxyUrl")
		require.NotContains(t, wrong, "secret")
	})
}

// TestPrivateProxy dials no proxy at a private address, by whatever name and
// scheme: whoever makes a reference names it.
func TestPrivateProxy(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var dialled atomic.Int32
		inside, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { _ = inside.Close() })
		go func() {
			for {
				c, err := inside.Accept()
				if err != nil {
					return
				}
				dialled.Add(1)
				_ = c.Close()
			}
		}()
		_, port, err := net.SplitHostPort(inside.Addr().String())
		require.NoError(t, err)
		for _, scheme := range []string{"http", "https", "socks5"} {
			for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0.0.0.0"} {
				f := newReference(t, db, nil)
				f.ref.Settings["proxyUrl"] = scheme + "://" + host + ":" + port
				f.open(t)
				require.NoError(t, f.session.(provider.Linker).Link(t.Context(), ""))
				require.Contains(t, f.inbox.state(t, provider.Disconnected).Detail, "--webhook-allow", f.ref.Settings)
				f.close(t)
			}
		}
		require.Zero(t, dialled.Load())
	})
}
