package server_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// canaries are secrets and private words that stand in a server's inputs.
type canaries struct {
	accessToken, appSecret, verifyToken, header, password, words, phone, signing string
}

// recorder keeps every answer of a handler.
type recorder struct {
	h       http.Handler
	mu      sync.Mutex
	answers []string
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	out := httptest.NewRecorder()
	r.h.ServeHTTP(out, req)
	r.mu.Lock()
	r.answers = append(r.answers, fmt.Sprintf("%s %s\n%v\n%s", req.Method, req.URL.Path, out.Header(), out.Body.String()))
	r.mu.Unlock()
	for k, v := range out.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(out.Code)
	_, _ = w.Write(out.Body.Bytes())
}

// TestNothingLeaks uses each secret for what it is there for, right and wrong,
// and looks for it in all answers, in the log at debug level and in the
// metrics.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		t.Parallel()
		log := &logBuffer{}
		logger := slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		k := canaries{
			accessToken: "canary-access-token", appSecret: "canary-app-secret", verifyToken: "canary-verify-token", header: "canary-header-value",
			password: "canary password", words: "canary words of a message", phone: "16505550123",
		}
		l := line{PhoneNumberID: "990", BusinessAccountID: "99099", AccessToken: k.accessToken, AppSecret: k.appSecret, VerifyToken: k.verifyToken}
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // a receiver that repeats everything it got
			w.WriteHeader(500)
			_, _ = fmt.Fprintf(w, "%v %s", r.Header, body)
		}))
		t.Cleanup(receiver.Close)
		var f fixture
		g := startGraph(t, &graphOptions{
			Lines: []line{l}, Statuses: []string{"sent", "delivered"}, Callback: "http://trunkline.test/webhooks/provider",
			HTTPClient: into(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.ServeHTTP(w, r) })),
		})
		f = setupOn(t, db, func(c *server.Config) {
			c.Logger, c.GraphURL, c.WebhookAllow = logger, g.URL, []string{"127.0.0.1"}
		})
		f.log = log
		working(t, f)
		secrets := f.live(t, l, k, g, receiver.URL)
		k.signing = secrets[0]
		for name, secret := range map[string]string{
			"access token": k.accessToken, "app secret": k.appSecret, "verify token": k.verifyToken, "header": k.header, "password": k.password,
			"words": k.words, "phone": k.phone, "signing secret": k.signing, "JWT": secrets[1], "server's secret": secret,
		} {
			require.NotContains(t, log.String(), secret, "%s in the log", name)
			require.NotContains(t, metrics(t, f), secret, "%s in the metrics", name)
		}
		require.Contains(t, log.String(), `"level":"DEBUG"`)
	})
}

// live is a day in the life of a server. It returns a signing secret and a
// JWT.
func (f fixture) live(t *testing.T, l line, k canaries, g *graphtest.Server, receiver string) []string {
	t.Helper()
	rec := &recorder{h: f}
	do := func(token, method, path, body string, header ...string) answer {
		req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		rec.ServeHTTP(w, req)
		return answer{w, t}
	}
	account := fmt.Sprintf(`{"email":"ana@example.org","password":%q,"name":"Ana"}`, k.password)
	token := do("", "POST", "/user/signup", account).json(201)["token"].(string)
	do("", "POST", "/user/signup", account).problem(409, "conflict")
	do("", "POST", "/user/login", fmt.Sprintf(`{"email":"ana@example.org","password":"%sx"}`, k.password)).problem(401, "unauthorized")
	do("", "POST", "/user/login", fmt.Sprintf(`{"email":"ana@example.org","password":[%q]}`, k.password)).problem(422, "validation")
	rec.answers = nil // the tokens were meant to be shown

	ref := int(do(token, "POST", "/reference", reference(l)).json(201)["id"].(float64))
	do(token, "POST", "/reference", strings.Replace(reference(l), `"990"`, `"x"`, 1)).problem(422, "validation")
	do(token, "PATCH", fmt.Sprintf("/reference/%d", ref), fmt.Sprintf(`{"settings":{"appSecrets":%q}}`, k.appSecret)).problem(422, "validation")
	do(token, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
	do("", "GET", "/webhooks/provider?hub.mode=subscribe&hub.challenge=1&hub.verify_token="+k.verifyToken, "")
	do("", "GET", "/webhooks/provider?hub.mode=other&hub.challenge=1&hub.verify_token="+k.verifyToken, "").problem(403, "forbidden")
	registered := do(token, "POST", "/references/registerWebHook", fmt.Sprintf(
		`{"reference":%d,"webhook":%q,"headers":[{"key":"X-Key","value":%q}]}`, ref, receiver, k.header)).json(201)
	rec.answers = rec.answers[:len(rec.answers)-1] // so was the signing secret
	do(token, "POST", "/references/hookconf", fmt.Sprintf(`{"id":%d,"webhook":"http://127.0.0.2/","headers":[{"key":"X-Key","value":%q}]}`, ref, k.header)).problem(422, "validation")
	do(token, "GET", fmt.Sprintf("/references/hookconf?reference=%d", ref), "").json(200)
	do(token, "GET", "/reference/list", "").json(200)
	for _, path := range []string{"/swagger/openapi.json", "/probe", "/panel/", "/swagger"} {
		do("", "GET", path, "")
	}
	private := len(rec.answers)

	// What people say is shown to their account, and nowhere else.
	_, err := g.Write(t.Context(), graphtest.Inbound{From: k.phone, Name: "Sheena", Text: k.words})
	require.NoError(t, err)
	body := sendBody(ref, k.phone, fmt.Sprintf(`{"type":"text","text":%q}`, k.words))
	do(token, "POST", "/chats/send", body, "Idempotency-Key", "key").json(200)
	do(token, "POST", "/chats/send", sendBody(ref, k.phone, fmt.Sprintf(`{"type":%q}`, k.words))).problem(422, "validation")
	g.Fail(graphtest.Fault{Code: 131009, Message: "Parameter value is not valid"}, graphtest.Fault{Code: 130429, Times: 2}, graphtest.Fault{Cut: true})
	for range 3 {
		do(token, "POST", "/chats/send?wait=1", body)
	}
	do(token, "GET", fmt.Sprintf("/chats/list?reference=%d&search=%s", ref, k.phone), "").json(200)
	do("", "POST", "/webhooks/provider", text("990", "99099", k.phone, "wamid.x", k.words)).problem(401, "unauthorized")
	require.Eventually(t, func() bool {
		return strings.Contains(metrics(t, f), `trunkline_webhook_attempt_duration_seconds_count`)
	}, eventually, tick)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for i, a := range rec.answers {
		for _, secret := range []string{k.accessToken, k.appSecret, k.verifyToken, k.header, k.password, registered["secret"].(string), token, secret} {
			require.NotContains(t, a, secret)
		}
		if i < private {
			require.NotContains(t, a, k.words)
			require.NotContains(t, a, k.phone)
		}
	}
	return []string{registered["secret"].(string), token}
}
