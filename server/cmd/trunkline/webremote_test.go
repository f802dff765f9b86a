package main_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// answered is the outcome of a concurrent request.
type answered struct {
	status int
	body   map[string]any
	err    error
}

// ask makes a request concurrently with the test.
func (r *webEnv) ask(t *testing.T, method, path, body string) <-chan answered {
	t.Helper()
	out := make(chan answered, 1)
	go func() {
		status, answer, err := r.try(t.Context(), method, path, body)
		out <- answered{status, answer, err}
	}()
	return out
}

// groupAsks counts what a network is asked about groups. While it holds, none
// of it is answered.
type groupAsks struct {
	n       atomic.Int32
	holds   atomic.Bool
	started chan struct{}
}

func (r *webEnv) watchGroups() *groupAsks {
	g := &groupAsks{started: make(chan struct{}, 100)}
	r.fake.Intercept(func(_ *webtest.Device, n *waBinary.Node) bool {
		if n.Tag != "iq" || n.Attrs["xmlns"] != "w:g2" {
			return false
		}
		g.n.Add(1)
		g.started <- struct{}{}
		return g.holds.Load()
	})
	return g
}

// TestWebRemoteCall kills the node that owns a reference while another node has it query
// the network. The next owner repeats a query. A change that has started is not
// repeated, and its caller learns that the outcome is unknown. A change that has
// not started is made.
func TestWebRemoteCall(t *testing.T) {
	t.Parallel()
	url, files := testkit.PostgresURL(t), t.TempDir()
	r := newWebEnv(t)
	launch := func() *node {
		return r.launch(t, "--data", t.TempDir(), "--database-url", url, "--media", files, "--secret", sharedSecret)
	}
	one := launch()
	r.balancer.open(one)
	r.signUp(t)
	l := r.link(t)
	group := r.fake.AddPhone(nil).Groups().Create(webtest.GroupOptions{Subject: "Friends", Members: []*webtest.Phone{l.owner}})
	require.NoError(t, l.device.AwaitIdle(within(t)))
	show := fmt.Sprintf("/chats/group?reference=%d&chatId=%s", l.ref, group)
	create := fmt.Sprintf(`{"reference":%d,"subject":"Family","participants":[%q]}`, l.ref, number(r.fake.AddPhone(nil)))
	asks := r.watchGroups()
	next := func() *node {
		n := launch()
		r.balancer.open(n)
		r.call(t, 200, "GET", show, "")
		for len(asks.started) > 0 {
			<-asks.started
		}
		return n
	}
	killed := func(have *node, answer <-chan answered) answered {
		<-asks.started
		before := r.logins()
		have.kill()
		asks.holds.Store(false)
		got := <-answer
		require.NoError(t, got.err)
		r.back(t, before, time.Now())
		return got
	}

	two := next()
	asks.holds.Store(true)
	got := killed(one, r.ask(t, "GET", show, ""))
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Equal(t, "Friends", got.body["subject"])

	three := next()
	before := asks.n.Load()
	asks.holds.Store(true)
	got = killed(two, r.ask(t, "POST", "/chats/group", create))
	require.Equal(t, http.StatusBadGateway, got.status, got.body)
	require.Equal(t, "provider_error", got.body["code"])
	require.Contains(t, got.body["detail"], "Check whether the request took effect")
	require.Equal(t, before+1, asks.n.Load(), "it was not made again")

	four := next()
	three.freeze(t)
	logins := r.logins()
	answer := r.ask(t, "POST", "/chats/group", create)
	three.kill()
	got = <-answer
	require.NoError(t, got.err)
	require.Equal(t, http.StatusCreated, got.status, got.body)
	r.back(t, logins, time.Now())
	r.connected(t, l)
	r.sound(t)
	four.terminate(t)
}
