package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server"
)

// TestSquatting has a stranger who claims a reference that is another's.
func TestSquatting(t *testing.T) {
	t.Parallel()
	mine := cloudNumber("820")
	wrongSecret, noToken := mine, mine
	wrongSecret.AppSecret = "a secret of the stranger's"
	noToken.AccessToken = "a token that may not read the number"
	for name, stranger := range map[string]graphtest.Number{"wrong secret": wrongSecret, "no token": noToken} {
		for _, first := range []string{"owner", "stranger"} {
			t.Run(name+", first the "+first, func(t *testing.T) {
				t.Parallel()
				g := startGraph(t, &graphOptions{Numbers: []graphtest.Number{mine}})
				onDatabases(t, func(c *server.Config) { c.GraphURL, c.WebhookAllow = g.URL, []string{"127.0.0.1"} }, func(t *testing.T, f fixture) {
					owner, thief := f.as(t, "owner"), f.as(t, "thief")
					var ref, his int
					if first == "stranger" {
						his = thief.reference(t, reference(stranger))
						ref = owner.reference(t, reference(mine))
					} else {
						ref = owner.reference(t, reference(mine))
						his = thief.reference(t, reference(stranger))
					}
					squat(t, f, owner, thief, ref, his)
				})
			})
		}
	}
}

// squat has callbacks arrive before and after the owner, and then the
// stranger, start their sessions.
func squat(t *testing.T, f fixture, owner, thief client, ref, his int) {
	t.Helper()
	secret := cloudNumber("820").AppSecret
	mine, stolen := owner.receiver(t, ref), thief.receiver(t, his)
	receiveNext := func(i int) {
		body := text("820", "82099", "16505551234", fmt.Sprintf("wamid.%d", i), fmt.Sprint(i))
		f.until(t, func() bool { // a network repeats what is refused
			a := f.post(t, body, secret)
			require.Contains(t, []int{200, 503}, a.Code)
			return a.Code == 200
		})
	}
	receiveNext(1)
	thief.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, his)).json(200)
	receiveNext(2)
	owner.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
	receiveNext(3)
	thief.call(t, "PATCH", fmt.Sprintf("/reference/%d", his), `{"settings":{"verifyToken":"another"}}`).json(200)
	receiveNext(4)
	require.Equal(t, []string{"1", "2", "3", "4"}, owner.texts(t, ref))
	require.Empty(t, thief.texts(t, his))
	// His own secret does not help him to forge what is the owner's.
	forged := text("820", "82099", "16505551234", "wamid.9", "forged")
	require.Equal(t, 401, f.post(t, forged, "yet another secret").Code)
	f.post(t, forged, "a secret of the stranger's")
	require.Equal(t, []string{"1", "2", "3", "4"}, owner.texts(t, ref))
	f.until(t, func() bool { return len(mine.texts()) == 4 })
	require.Equal(t, []string{"1", "2", "3", "4"}, mine.texts())
	for _, words := range stolen.texts() {
		require.Equal(t, "forged", words, "he may deceive himself, and nothing else reaches him")
	}
}

// inbox is an integrator's endpoint.
type inbox struct {
	mu  sync.Mutex
	got []string
}

// receiver is an endpoint for the messages of a reference.
func (c client) receiver(t *testing.T, ref int) *inbox {
	t.Helper()
	in := &inbox{}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m struct{ Text string }
		_ = json.NewDecoder(r.Body).Decode(&m)
		in.mu.Lock()
		defer in.mu.Unlock()
		in.got = append(in.got, m.Text)
	}))
	t.Cleanup(srv.Close)
	c.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q,"events":["message"]}`, ref, srv.URL)).json(201)
	return in
}

func (in *inbox) texts() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return append([]string{}, in.got...)
}
