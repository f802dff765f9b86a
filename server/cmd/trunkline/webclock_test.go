package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
	"github.com/trunklinehq/trunkline/server"
)

// clockEnv is a server in the process of the test. The test moves its clock. References
// have their default rates.
type clockEnv struct {
	*webEnv
	db  *sqlx.DB
	at  atomic.Int64 // microseconds
	end func()
}

func newClockEnv(t *testing.T, db *sqlx.DB) *clockEnv {
	t.Helper()
	r := &clockEnv{webEnv: newWebEnv(t), db: db}
	r.at.Store(time.Now().UnixMicro())
	r.start(t)
	r.signUp(t)
	return r
}

func (r *clockEnv) now() time.Time      { return time.UnixMicro(r.at.Load()) }
func (r *clockEnv) add(d time.Duration) { r.at.Add(d.Microseconds()) }

// start starts the only server on the database.
func (r *clockEnv) start(t *testing.T) {
	t.Helper()
	root := r.fake.RootKey()
	whatsapp, err := web.New(t.Context(), r.db, &web.Options{
		HTTPClient: r.fake.HTTPClient(), RootKey: &root, Now: r.now, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	s, err := server.New(t.Context(), server.Config{
		DB: r.db, Secrets: []server.Secret{sharedSecret}, Now: r.now, Logger: slog.New(slog.DiscardHandler),
		Providers: []provider.Provider{whatsapp},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	host := httptest.NewServer(s)
	r.balancer.open(&node{host: strings.TrimPrefix(host.URL, "http://")})
	r.end = sync.OnceFunc(func() {
		host.CloseClientConnections()
		host.Close()
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(r.end)
}

// restart ends the server and starts another.
func (r *clockEnv) restart(t *testing.T) {
	t.Helper()
	before := r.logins()
	r.end()
	r.start(t)
	r.back(t, before, time.Now())
	for _, l := range r.refs {
		r.connected(t, l)
	}
}

// standing is what the stream and the API say of a reference's session.
type standing struct {
	State string
	QR    *struct {
		Code, Image string
		ExpiresAt   int64
	}
	LastError *struct{ Code, Message string }
}

// standings follows the session events of the stream until the test ends.
func (r *clockEnv) standings(t *testing.T, ref int) <-chan standing {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/chats/stream?reference=%d", balancerURL, ref), nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+r.token)
	resp, err := (&http.Client{Transport: &r.balancer}).Do(req)
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		_ = resp.Body.Close()
	})
	out := make(chan standing, 1000)
	refs := bufio.NewScanner(resp.Body)
	refs.Buffer(nil, 1<<20)
	require.True(t, refs.Scan(), "it is ready")
	go func() {
		defer close(out)
		kind := ""
		for refs.Scan() {
			name, value, _ := strings.Cut(refs.Text(), ": ")
			switch {
			case name == "event":
				kind = value
			case name == "data" && kind == "session":
				var s standing
				if json.Unmarshal([]byte(value), &s) == nil {
					out <- s
				}
			}
		}
	}()
	return out
}

// upTo returns the first that match takes.
func upTo(t *testing.T, all <-chan standing, match func(standing) bool) standing {
	t.Helper()
	late := time.After(webTimeout)
	for {
		select {
		case s, ok := <-all:
			require.True(t, ok, "the stream has ended")
			if match(s) {
				return s
			}
		case <-late:
			require.Fail(t, "the stream says nothing of it")
		}
	}
}

// status returns what the API says of a reference's session.
func (r *clockEnv) status(t *testing.T, ref int) (s standing) {
	t.Helper()
	raw, err := json.Marshal(r.session(t, ref))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &s))
	return s
}

// TestWebCodesRotate scans no code: the stream and the status show one code after
// the other, each until it expires, and finally that the reference has given up.
func TestWebCodesRotate(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		r := newClockEnv(t, db)
		ref := int(r.call(t, 201, "POST", "/reference", `{"name":"Shop","type":"provider-web"}`)["id"].(float64))
		all := r.standings(t, ref)
		start := fmt.Sprintf(`{"reference":%d,"method":"qr"}`, ref)
		r.call(t, 200, "POST", "/reference/session/start", start)
		const rounds, codes = 3, 6
		seen := map[string]bool{}
		fresh := func(s standing) bool { return s.QR != nil && !seen[s.QR.Code] }
		for i := range rounds * codes {
			shown := upTo(t, all, fresh)
			seen[shown.QR.Code] = true
			require.Equal(t, "PAIRING", shown.State)
			require.Contains(t, shown.QR.Image, "data:image/png;base64,")
			require.Equal(t, shown, r.status(t, ref))
			ttl := 20 * time.Second
			if i%codes == 0 {
				ttl = time.Minute
			}
			require.Equal(t, r.now().Add(ttl).Unix(), shown.QR.ExpiresAt)
			r.add(ttl)
		}
		over := upTo(t, all, func(s standing) bool { return s.State == "FAILED" })
		require.Nil(t, over.QR)
		require.Equal(t, "unknown", over.LastError.Code)
		require.NotEmpty(t, over.LastError.Message)
		require.Equal(t, over, r.status(t, ref))
		require.Len(t, seen, rounds*codes)

		r.call(t, 200, "POST", "/reference/session/start", start)
		again := upTo(t, all, fresh)
		require.Nil(t, again.LastError)
		_, err := r.fake.AddPhone(nil).Scan(within(t), again.QR.Code)
		require.NoError(t, err)
		require.Nil(t, upTo(t, all, func(s standing) bool { return s.State == "CONNECTED" }).QR)
	})
}

// earliest returns when a dry run says that a text to a phone could leave; 0: now.
func (r *clockEnv) earliest(t *testing.T, ref int, to *webtest.Phone) time.Duration {
	t.Helper()
	out := r.call(t, 200, "POST", "/chats/send?dryRun=1", fmt.Sprintf(
		`{"reference":%d,"chatId":%q,"message":{"type":"text","text":"hello"}}`, ref, number(to)))
	require.Equal(t, true, out["allowed"], out)
	at, ok := out["earliest"].(float64)
	if !ok {
		return 0
	}
	return time.Unix(int64(at), 0).Sub(r.now())
}

// awaitEarliest waits until a dry run says so: only who has the reference knows.
func (r *clockEnv) awaitEarliest(t *testing.T, ref int, to *webtest.Phone, want time.Duration) {
	t.Helper()
	var got time.Duration
	require.Eventually(t, func() bool {
		got = r.earliest(t, ref, to)
		return got > want-2*time.Second
	}, webTimeout, 10*time.Millisecond)
	require.LessOrEqual(t, got, want+2*time.Second)
}

// TestWebRateIsKept begins as many chats as a reference may, and has the network
// forbid more: dry runs say until when, also of a server that was started
// since.
func TestWebRateIsKept(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		r := newClockEnv(t, db)
		l := r.link(t)
		r.ref = l.ref
		known := r.fake.AddPhone(nil)
		const burst = 5
		r.answer(t, number(known), `{"type":"text","text":"hello"}`)
		for range burst - 1 {
			r.answer(t, number(r.fake.AddPhone(nil)), `{"type":"text","text":"hello"}`)
		}
		stranger := r.fake.AddPhone(nil)
		waits := r.call(t, 200, "POST", "/chats/send?wait=1", fmt.Sprintf(
			`{"reference":%d,"chatId":%q,"message":{"type":"text","text":"hello"}}`, l.ref, number(stranger)))
		require.Equal(t, "PENDING", waits["message"].(map[string]any)["status"])
		other := r.fake.AddPhone(nil)
		for range 2 {
			r.awaitEarliest(t, l.ref, other, time.Minute)
			require.Zero(t, r.earliest(t, l.ref, known))
			r.restart(t)
		}
		r.add(time.Minute)
		require.Zero(t, r.earliest(t, l.ref, other))

		l.device.NotifyReachOut(r.now().Add(3 * time.Hour))
		r.awaitEarliest(t, l.ref, other, 3*time.Hour)
		r.restart(t)
		r.awaitEarliest(t, l.ref, other, 3*time.Hour)
		require.Zero(t, r.earliest(t, l.ref, known))
		r.answer(t, number(known), `{"type":"text","text":"how are you?"}`)
		r.sound(t)
	})
}

// TestWebErase erases a contact over the API: the tables of the reference know the
// number no more, and who was erased can write again.
func TestWebErase(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		r := newClockEnv(t, db)
		l := r.link(t)
		r.ref = l.ref
		ana := r.fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"})
		chat := fmt.Sprintf("/chats?reference=%d&chatId=%s", l.ref, number(ana))
		_, err := ana.SendText(within(t), l.owner.LID(), "hello")
		require.NoError(t, err)
		r.answer(t, number(ana), `{"type":"text","text":"hello"}`)
		require.NoError(t, l.device.AwaitIdle(within(t)))
		known := func() (tables int) {
			for _, q := range []string{
				`SELECT count(*) FROM web_lid WHERE phone = $1`, `SELECT count(*) FROM whatsmeow_contacts WHERE their_jid LIKE '%' || $1 || '@%'`,
				`SELECT count(*) FROM whatsmeow_sessions WHERE their_id LIKE '%' || $1 || '_1:%'`,
				`SELECT count(*) FROM whatsmeow_retry_buffer WHERE chat_jid LIKE '%' || $1 || '@%'`,
			} {
				var n int
				require.NoError(t, db.Get(&n, q, number(ana)))
				tables += min(n, 1)
			}
			return tables
		}
		require.Eventually(t, func() bool { return known() == 4 }, webTimeout, 10*time.Millisecond, "some of it is noted beside the message")
		job := r.call(t, 202, "DELETE", chat, "")["job"].(map[string]any)["id"].(string)
		require.Eventually(t, func() bool { return r.call(t, 200, "GET", "/jobs/"+job, "")["state"] == "completed" }, webTimeout, 10*time.Millisecond)
		require.Zero(t, known())
		_, err = ana.SendText(within(t), l.owner.LID(), "do you know me?")
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			status, page, err := r.try(t.Context(), "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s", l.ref, number(ana)), "")
			require.NoError(t, err)
			if status != http.StatusOK {
				return false // it is asked for again, with new keys
			}
			items := page["items"].([]any)
			return len(items) == 1 && items[0].(map[string]any)["text"] == "do you know me?"
		}, webTimeout, 10*time.Millisecond)
	})
}
