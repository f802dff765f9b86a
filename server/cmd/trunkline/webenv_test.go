package main_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// webTimeout is how long a test waits for the fake network, on a busy machine.
const webTimeout = 2 * time.Minute

// webEnv is a rig whose network is a fake WhatsApp Web, with references that phones
// have linked.
type webEnv struct {
	*env
	fake *webtest.Server
	refs []*webReference
}

// webReference is a reference and the phone that it is linked to.
type webReference struct {
	ref    int
	owner  *webtest.Phone
	device *webtest.Device
}

// newWebEnv starts a network and a receiver.
func newWebEnv(t testing.TB) *webEnv {
	t.Helper()
	return webEnvOn(t, startFake(t))
}

func startFake(t testing.TB) *webtest.Server {
	t.Helper()
	fake := webtest.Start(&webtest.Options{Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(fake.Close)
	return fake
}

// webEnvOn starts a receiver for a network.
func webEnvOn(t testing.TB, fake *webtest.Server) *webEnv {
	t.Helper()
	r := &webEnv{env: &env{}, fake: fake}
	r.http = &http.Client{Transport: &r.balancer, Timeout: answerWithin}
	r.sink = newSink(t)
	return r
}

// launch starts a server that reaches the rig.
func (r *webEnv) launch(t testing.TB, args ...string) *node {
	t.Helper()
	return launchIn(t, r.fake.Environ(), append([]string{"--webhook-allow", "127.0.0.1/32", "--log", "warn"}, args...)...)
}

// within bounds what the fake is waited for.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), webTimeout)
	t.Cleanup(cancel)
	return ctx
}

// link adds a reference and lets a new phone scan the code that the API shows.
func (r *webEnv) link(t testing.TB) *webReference {
	t.Helper()
	ref := r.call(t, 201, "POST", "/reference", `{"name":"Shop","type":"provider-web"}`)
	l := &webReference{ref: int(ref["id"].(float64)), owner: r.fake.AddPhone(nil)}
	r.call(t, 200, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d,"method":"qr"}`, l.ref))
	var code string
	require.Eventually(t, func() bool {
		shown, ok := r.session(t, l.ref)["qr"].(map[string]any)
		if ok {
			code = shown["code"].(string)
		}
		return ok
	}, webTimeout, 10*time.Millisecond, "a code to scan")
	device, err := l.owner.Scan(within(t), code)
	require.NoError(t, err)
	l.device = device
	require.NoError(t, device.AwaitActive(within(t)))
	r.connected(t, l)
	r.refs = append(r.refs, l)
	return l
}

func (r *webEnv) session(t testing.TB, ref int) map[string]any {
	t.Helper()
	return r.call(t, 200, "GET", fmt.Sprintf("/reference/session/status?reference=%d", ref), "")
}

// connected waits until the API reports a reference as connected. A restriction of new
// chats does not matter.
func (r *webEnv) connected(t testing.TB, l *webReference) {
	t.Helper()
	var last map[string]any
	require.Eventually(t, func() bool {
		last = r.session(t, l.ref)
		return last["state"] == "CONNECTED"
	}, webTimeout, 10*time.Millisecond, "the reference is connected")
	if wrong, is := last["lastError"].(map[string]any); is {
		require.Equal(t, "reachout_limited", wrong["code"])
	}
}

// devices returns the devices of the references.
func (r *webEnv) devices() []*webtest.Device {
	out := make([]*webtest.Device, len(r.refs))
	for i, l := range r.refs {
		out[i] = l.device
	}
	return out
}

// logins returns how often each reference's device has logged in.
func (r *webEnv) logins() []int { return logins(r.devices()) }

func logins(devices []*webtest.Device) []int {
	out := make([]int, len(devices))
	for i, d := range devices {
		out[i] = len(d.Logins())
	}
	return out
}

// back waits until each reference has logged in again after before, and gets its
// messages. It returns how long that took since begin.
func (r *webEnv) back(t testing.TB, before []int, begin time.Time) time.Duration {
	t.Helper()
	return back(t, r.devices(), before, begin)
}

func back(t testing.TB, devices []*webtest.Device, before []int, begin time.Time) time.Duration {
	t.Helper()
	ctx := within(t)
	for i, d := range devices {
		require.NoError(t, d.AwaitLogins(ctx, before[i]+1))
		require.NoError(t, d.AwaitActive(ctx))
	}
	return time.Since(begin)
}

// sound fails the test when the network saw anything that it should not.
func (r *webEnv) sound(t testing.TB) {
	t.Helper()
	require.Empty(t, r.fake.Conflicts(), "no reference was connected twice at once")
	require.Empty(t, r.fake.Unknown())
	for _, l := range r.refs {
		require.Len(t, l.owner.Devices(), 1, "a reference was linked again")
		require.False(t, l.device.Removed())
	}
}

// number returns the phone number of a phone, by which its chat is found.
func number(p *webtest.Phone) string { return p.JID().User }

// stored fails the test unless a chat holds these texts of its contact, each
// once and in their order.
func (r *webEnv) stored(t testing.TB, l *webReference, from *webtest.Phone, ids []string) {
	t.Helper()
	var got []string
	for _, m := range r.historyOf(t, l.ref, number(from)) {
		if !m.Mine {
			got = append(got, m.ID)
		}
	}
	require.Equal(t, ids, got, "messages of %s", number(from))
}
