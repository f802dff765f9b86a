package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/webhook"
)

// integrator is a receiver of webhooks that trusts only what verifies under
// the secret of an endpoint, and takes each once: what was in hand when a
// machine stood still, or crashed, may come again under the same id.
type integrator struct {
	url     string
	secrets []string
	mu      sync.Mutex
	got     []delivered
	seen    map[string]bool // paths and ids of what it got
	arrived testsignal.Signal
}

// delivered is a request that an integrator got.
type delivered struct {
	path   string
	header http.Header
	body   []byte
}

// json is the body.
func (d delivered) json(t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	require.NoError(t, json.Unmarshal(d.body, &out), string(d.body))
	return out
}

func startIntegrator(t *testing.T) *integrator {
	t.Helper()
	in := &integrator{seen: map[string]bool{}}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		in.mu.Lock()
		defer in.mu.Unlock()
		if id := r.URL.Path + " " + r.Header.Get("Webhook-Id"); !in.seen[id] {
			in.seen[id] = true
			in.got = append(in.got, delivered{r.URL.Path, r.Header, body})
			in.arrived.Send()
		}
	}))
	t.Cleanup(s.Close)
	in.url = s.URL
	return in
}

// listen registers a path of the integrator with a reference; events is a
// JSON list, or "" for the default.
func (in *integrator) listen(t *testing.T, c client, ref int, path, events string) {
	t.Helper()
	if events != "" {
		events = `,"events":` + events
	}
	ep := c.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q%s}`, ref, in.url+path, events)).json(201)
	in.secrets = append(in.secrets, ep["secret"].(string))
}

// until waits until done returns true, which it asks now and after each request.
func (in *integrator) until(t *testing.T, done func() bool, what ...any) {
	t.Helper()
	testkit.Until(t, []*testsignal.Signal{&in.arrived}, done, what...)
}

// wait returns all requests once there are n, each of them verified.
func (in *integrator) wait(t *testing.T, n int) []delivered {
	t.Helper()
	var got []delivered
	in.until(t, func() bool {
		got = in.matching(func([]byte) bool { return true })
		return len(got) >= n
	})
	in.verify(t, got)
	return got
}

// matching returns the requests so far whose body is asked for.
func (in *integrator) matching(asked func(body []byte) bool) []delivered {
	in.mu.Lock()
	defer in.mu.Unlock()
	var got []delivered
	for _, d := range in.got {
		if asked(d.body) {
			got = append(got, d)
		}
	}
	return got
}

// verify holds requests against the secrets.
func (in *integrator) verify(t *testing.T, got []delivered) {
	t.Helper()
	for _, d := range got {
		var err error
		for _, secret := range in.secrets {
			if err = webhook.Verify(secret, d.header, d.body, time.Now()); err == nil {
				break
			}
		}
		require.NoError(t, err)
	}
}
