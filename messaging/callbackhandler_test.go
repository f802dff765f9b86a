package messaging_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// callbackTo posts a body, signed under secret, to a handler as if from an address.
func callbackTo(t testing.TB, h http.Handler, from, secret string, body io.Reader, signed string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
	r.RemoteAddr = from + ":1"
	r.Header.Set(graph.SignatureHeader, graph.Sign(secret, []byte(signed)))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestCallbackHandler has a fake of Meta verify the address and post to it: a program
// needs no other handler, and package server only writes problems in its place.
func TestCallbackHandler(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		number := graphtest.Number{PhoneNumberID: "1001", BusinessAccountID: "2001", AccessToken: ownerToken, AppSecret: ownerSecret, VerifyToken: "verify word"}
		meta := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{number}})
		t.Cleanup(meta.Close)
		f := setup(t, db, config{options: func(o *messaging.Options) {
			o.Providers = append(o.Providers, cloud.New(&cloud.Options{GraphURL: meta.URL}))
		}})
		ref := f.cloudReference(t, messaging.OneAccount, map[string]string{"verifyToken": "verify word"})
		web := httptest.NewServer(messaging.CallbackHandler(f.svc, nil))
		t.Cleanup(web.Close)
		meta.SetCallback(web.URL)
		require.NoError(t, meta.Handshake(t.Context(), number.PhoneNumberID))
		_, err := meta.Write(t.Context(), graphtest.Inbound{From: "16505551234", Name: "Ana", Text: "Hello"})
		require.NoError(t, err)
		require.Equal(t, "Hello", f.messages(t, ref, "16505551234")[0].Text)
	})
}

// TestCallbackHandler_Refuses lists the answers to what is no callback of a reference
// here.
func TestCallbackHandler_Refuses(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, _ := cloudSetup(t, db)
		f.cloudReference(t, messaging.OneAccount, nil)
		h := messaging.CallbackHandler(f.svc, nil)
		hello := callback(change("1001", item("w1", "hush-hush")))
		for name, c := range map[string]struct {
			body, secret string
			status       int
			text         string
		}{
			"another secret": {hello, "another", 401, "app secret"},
			"no JSON":        {"hush-hush", ownerSecret, 400, "JSON object"},
			"too large":      {hello + strings.Repeat(" ", 4<<20), ownerSecret, 413, "too large"},
			"good":           {hello, ownerSecret, 200, ""},
		} {
			w := callbackTo(t, h, "192.0.2.1", c.secret, strings.NewReader(c.body), c.body)
			require.Equal(t, c.status, w.Code, name)
			require.Contains(t, w.Body.String(), c.text, name)
			require.NotContains(t, w.Body.String(), "hush", name)
		}
		for method, status := range map[string]int{http.MethodGet: 403, http.MethodPut: 405} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/?hub.mode=subscribe&hub.challenge=1&hub.verify_token=another", http.NoBody))
			require.Equal(t, status, w.Code, method)
		}
	})
}

// TestCallbackHandler_Limits refuses an address before it reads a body, once forged
// ones came from there.
func TestCallbackHandler_Limits(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, _ := cloudSetup(t, db)
		f.cloudReference(t, messaging.OneAccount, nil)
		h := messaging.CallbackHandler(f.svc, &messaging.CallbackOptions{Now: f.clock.Now})
		large := callback(change("1001", item("w1", strings.Repeat("x", 3<<20))))
		forge := func(body io.Reader) *httptest.ResponseRecorder {
			return callbackTo(t, h, "198.51.100.1", "nobody's", body, large)
		}
		refused := 0
		for forge(strings.NewReader(large)).Code == 401 {
			refused++
		}
		require.Less(t, refused, 20)
		w := forge(io.MultiReader(unreadable{t}))
		require.Equal(t, http.StatusTooManyRequests, w.Code)
		require.NotEmpty(t, w.Header().Get("Retry-After"))
		f.clock.Advance(time.Hour)
		require.Equal(t, http.StatusUnauthorized, forge(strings.NewReader(large)).Code)
	})
}

// unreadable is a body that must not be read.
type unreadable struct{ t testing.TB }

func (u unreadable) Read([]byte) (int, error) {
	require.Fail(u.t, "the body is read")
	return 0, io.EOF
}

// TestCallbackHandler_Sheds: with as many large bodies before it as may wait, the next
// of a stranger is refused at once; those of networks are taken.
func TestCallbackHandler_Sheds(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, _ := cloudSetup(t, db)
		ref := f.cloudReference(t, messaging.OneAccount, nil)
		var refused []messaging.CallbackRefusal
		h := messaging.CallbackHandler(f.svc, &messaging.CallbackOptions{
			Client: func(r *http.Request) netip.Addr { return netip.MustParseAddr(r.Header.Get("X-Client")) },
			Refuse: func(w http.ResponseWriter, _ *http.Request, why messaging.CallbackRefusal) {
				refused = append(refused, why)
				w.WriteHeader(why.Status)
			},
		})
		post := func(from, secret, body string) int {
			t.Helper()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
			r.Header.Set("X-Client", from)
			r.Header.Set(graph.SignatureHeader, graph.Sign(secret, []byte(body)))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Code
		}
		require.Equal(t, 200, post("198.51.100.2", ownerSecret, callback(change("1001", item("w1", "Hello")))))
		messaging.OccupyCallbacks(t.Context(), h)
		large := callback(change("1001", item("w2", strings.Repeat("x", 1<<20))))
		require.Equal(t, 503, post("198.51.100.1", "nobody's", large))
		require.Equal(t, time.Second, refused[0].After)
		require.Equal(t, 503, post("198.51.100.1", ownerSecret, large), "that it is refused proves nothing about its address")
		require.Equal(t, 200, post("198.51.100.2", ownerSecret, large))
		require.Len(t, f.messages(t, ref, "16505551234"), 2)
	})
}

// TestCallbackHandler_StoreIsAway answers 503 without the cause, which is logged.
func TestCallbackHandler_StoreIsAway(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		db := testkit.Open(t, url)
		graph := graphtest.Start(nil)
		t.Cleanup(graph.Close)
		var log bytes.Buffer
		f := setup(t, db, config{idle: true, options: func(o *messaging.Options) {
			o.Providers = append(o.Providers, cloud.New(&cloud.Options{GraphURL: graph.URL}))
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		}})
		require.NoError(t, db.Close())
		body := callback(change("1001", item("w1", "hush-hush")))
		w := callbackTo(t, messaging.CallbackHandler(f.svc, nil), "192.0.2.1", ownerSecret, strings.NewReader(body), body)
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.NotContains(t, w.Body.String(), "sql")
		require.Contains(t, log.String(), "a callback was not stored")
		require.NotContains(t, log.String(), "hush")
	})
}
