package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testkit/contract"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/panel"
)

const secret = "a secret for tests of 32 bytes and more"

// logBuffer collects a log.
type logBuffer struct {
	mu      sync.Mutex
	b       bytes.Buffer
	written chan struct{} // closed by the next write; nil: nobody waits
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.written != nil {
		close(l.written)
		l.written = nil
	}
	return l.b.Write(p)
}

// await waits until the log contains a text: what a line tells of can be seen
// elsewhere a moment before the line is written.
func (l *logBuffer) await(t *testing.T, text string) {
	t.Helper()
	late := time.After(eventually)
	for {
		l.mu.Lock()
		found := bytes.Contains(l.b.Bytes(), []byte(text))
		if l.written == nil {
			l.written = make(chan struct{})
		}
		written := l.written
		l.mu.Unlock()
		if found {
			return
		}
		select {
		case <-written:
		case <-late:
			require.Fail(t, "the log lacks a line", text)
		}
	}
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// hasNoErrors fails for each error in a log.
func (l *logBuffer) hasNoErrors(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(l.String()) {
		require.NotContains(t, line, `"level":"ERROR"`)
	}
}

// fixture is a server over an empty database.
type fixture struct {
	*server.Server
	log     *logBuffer
	answers *answers // nil: they are not kept

	breaches  *contract.Breaches
	elsewhere []*testsignal.Signal // commits of other nodes
}

// signals are sent after each commit on the database of the server.
func (f fixture) signals() []*testsignal.Signal { return append(f.elsewhere, f.Commits()) }

// until waits until done returns true, which it asks now and after each commit.
func (f fixture) until(t testing.TB, done func() bool, what ...any) {
	t.Helper()
	testkit.Until(t, f.signals(), done, what...)
}

// untilEqual waits until got returns want, as until does.
func untilEqual[T any](t testing.TB, f fixture, want T, got func() T) {
	t.Helper()
	testkit.UntilEqual(t, f.signals(), want, got)
}

// setup makes a server on SQLite; change may alter its configuration.
func setup(t *testing.T, change func(*server.Config)) fixture {
	t.Helper()
	return setupOn(t, testkit.Open(t, testkit.SQLiteURL(t)), change)
}

func setupOn(t *testing.T, db *sqlx.DB, change func(*server.Config)) fixture {
	t.Helper()
	immortal(t, db)
	log := &logBuffer{}
	cfg := server.Config{
		DB: db, Secrets: []server.Secret{secret}, PaymentsSecret: paymentsSecret, Version: "1.2.3", Panel: panel.Handler,
		Logger: slog.New(slog.NewJSONHandler(io.MultiWriter(log, t.Output()), nil)),
	}
	cfg.CheapPasswords()
	cfg.WithoutPrograms()
	if change != nil {
		change(&cfg)
	}
	if !slices.ContainsFunc(cfg.Providers, func(p provider.Provider) bool { return p.Kind() == web.Kind }) {
		addWeb(t, &cfg, web.Options{})
	}
	s, err := server.New(t.Context(), cfg)
	require.NoError(t, err)
	return fixture{s, log, nil, promises(t, s), nil}
}

// immortal has nodes on a database believe that the others live, for as long as a test
// takes: no machine stands still for so long that work is given up and repeated.
func immortal(t *testing.T, db *sqlx.DB) {
	t.Helper()
	require.NoError(t, queue.SetExpiry(t.Context(), db, 24*time.Hour))
}

// addWeb adds WhatsApp Web to a server as the program does.
func addWeb(t *testing.T, cfg *server.Config, opts web.Options) {
	t.Helper()
	opts.Logger, opts.Now, opts.Allow = cfg.Logger, cfg.Now, cfg.WebhookAllow
	whatsapp, err := web.New(t.Context(), cfg.DB, &opts)
	require.NoError(t, err)
	cfg.Providers = append(cfg.Providers, whatsapp)
}

// answer is a response that was read.
type answer struct {
	*httptest.ResponseRecorder
	t *testing.T
}

// do sends a request; header is a list of names and values.
func (f fixture) do(t *testing.T, method, path, body string, header ...string) answer {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req := httptest.NewRequestWithContext(t.Context(), method, patient(method, path), r)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, req)
	f.answers.keep(req, w)
	return answer{w, t}
}

// patient has a send wait for its attempt for as long as it may, where it does
// not say how long: a machine that stands still does so for longer than sends
// wait by themselves.
func patient(method, path string) string {
	if at, query, _ := strings.Cut(path, "?"); method == "POST" && at == "/chats/send" && !strings.Contains(query, "wait=") {
		return at + "?" + strings.TrimSuffix("wait=30&"+query, "&")
	}
	return path
}

// json decodes an answer of the given status.
func (a answer) json(status int) map[string]any {
	a.t.Helper()
	require.Equal(a.t, status, a.Code, a.Body.String())
	out := map[string]any{}
	require.NoError(a.t, json.Unmarshal(a.Body.Bytes(), &out), a.Body.String())
	return out
}

// problem decodes a refusal, which has to be complete.
func (a answer) problem(status int, code string) server.Problem {
	a.t.Helper()
	require.Equal(a.t, status, a.Code, a.Body.String())
	require.Equal(a.t, "application/problem+json", a.Header().Get("Content-Type"))
	require.NotEmpty(a.t, a.Header().Get("X-Request-Id"))
	var p server.Problem
	d := json.NewDecoder(bytes.NewReader(a.Body.Bytes()))
	d.DisallowUnknownFields()
	require.NoError(a.t, d.Decode(&p), a.Body.String())
	require.Equal(a.t, code, p.Code)
	require.Equal(a.t, status, p.Status)
	require.Equal(a.t, "about:blank", p.Type)
	require.Equal(a.t, http.StatusText(status), p.Title)
	require.NotEmpty(a.t, p.Detail)
	require.NotNil(a.t, p.Errors)
	return p
}

// locations are the places that a refusal names.
func locations(p server.Problem) []string {
	var out []string
	for _, e := range p.Errors {
		out = append(out, e.Location)
	}
	return out
}

// signUp returns the token of a new account's user.
func (f fixture) signUp(t *testing.T, email string) string {
	t.Helper()
	out := f.do(t, "POST", "/user/signup", `{"email":"`+email+`","password":"correct horse","name":"Ana"}`).json(201)
	return out["token"].(string)
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	for name, c := range map[string]struct {
		cfg  server.Config
		says string
	}{
		"no database":   {server.Config{Secrets: []server.Secret{secret}}, "Config.DB"},
		"no secret":     {server.Config{DB: db}, "no secret"},
		"short secret":  {server.Config{DB: db, Secrets: []server.Secret{"short"}}, "32 characters"},
		"base URL":      {server.Config{DB: db, Secrets: []server.Secret{secret}, BaseURL: "example.org"}, "Config.BaseURL"},
		"negative rate": {server.Config{DB: db, Secrets: []server.Secret{secret}, APILimit: -1}, "Config.APILimit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := server.New(t.Context(), c.cfg)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestOtherSecret(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		setupOn(t, db, nil)
		setupOn(t, db, nil)
		const other = "another secret of at least 32 characters"
		_, err := server.New(t.Context(), server.Config{DB: db, Secrets: []server.Secret{other}})
		require.ErrorIs(t, err, server.ErrOtherSecret)
		setupOn(t, db, func(c *server.Config) { c.Secrets = []server.Secret{other, secret} })
	})
}

func TestUser(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setupOn(t, db, nil)
		up := f.do(t, "POST", "/user/signup", `{"email":"Ana@Example.org","password":"correct horse","name":"Ana"}`).json(201)
		user := up["user"].(map[string]any)
		require.Equal(t, "ana@example.org", user["email"])
		require.Len(t, user["permissions"], 13)
		require.IsType(t, 0.0, up["expiresAt"])
		require.NotContains(t, user, "password")

		in := f.do(t, "POST", "/user/login", `{"email":"ana@example.org","password":"correct horse"}`).json(200)
		require.Equal(t, user, in["user"])
		me := f.do(t, "GET", "/user/me", "", "Authorization", "bearer "+in["token"].(string))
		require.Equal(t, user, me.json(200))
		require.Equal(t, "no-store", me.Header().Get("Cache-Control"))

		wrong := f.do(t, "POST", "/user/login", `{"email":"ana@example.org","password":"wrong"}`)
		wrong.problem(401, "unauthorized")
		unknown := f.do(t, "POST", "/user/login", `{"email":"ben@example.org","password":"wrong"}`)
		require.Equal(t, wrong.Body.String(), unknown.Body.String())
		f.do(t, "POST", "/user/signup", `{"email":"ana@example.org","password":"correct horse","name":"B"}`).problem(409, "conflict")
	})
}

func TestClosedSignUp(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *server.Config) { c.ClosedSignUp = true })
	f.signUp(t, "ana@example.org")
	f.do(t, "POST", "/user/signup", `{"email":"ben@example.org","password":"correct horse","name":"B"}`).problem(403, "forbidden")
}

func TestPublicLimit(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for i := range 60 {
		a := f.do(t, "POST", "/user/login", `{}`)
		a.problem(422, "validation")
		require.Equal(t, "60", a.Header().Get("RateLimit-Limit"))
		require.Equal(t, 59-i, atoi(t, a.Header().Get("RateLimit-Remaining")))
	}
	a := f.do(t, "POST", "/user/signup", `{}`)
	a.problem(429, "rate_limited")
	after := atoi(t, a.Header().Get("Retry-After"))
	require.True(t, after > 0 && after <= 60, after)
	f.do(t, "GET", "/user/me", "").problem(401, "unauthorized")
}

func TestLoginFailures(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.signUp(t, "ana@example.org")
	for range 10 {
		f.do(t, "POST", "/user/login", `{"email":"ana@example.org","password":"wrong"}`).problem(401, "unauthorized")
	}
	a := f.do(t, "POST", "/user/login", `{"email":"ana@example.org","password":"correct horse"}`)
	a.problem(429, "rate_limited")
	require.Greater(t, atoi(t, a.Header().Get("Retry-After")), 600)
}

func TestAPILimit(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *server.Config) { c.APILimit = 3 })
	one, two := f.signUp(t, "ana@example.org"), f.signUp(t, "ben@example.org")
	for i := range 3 {
		a := f.do(t, "GET", "/user/me", "", "Authorization", "Bearer "+one)
		a.json(200)
		require.Equal(t, 2-i, atoi(t, a.Header().Get("RateLimit-Remaining")))
	}
	f.do(t, "GET", "/user/me", "", "Authorization", "Bearer "+one).problem(429, "rate_limited")
	f.do(t, "GET", "/user/me", "", "Authorization", "Bearer "+two).json(200)
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	f := setupOn(t, db, nil)
	f.AddTestRoutes()
	token := f.signUp(t, "ana@example.org")
	a := f.do(t, "GET", "/test/manage", "")
	a.problem(401, "unauthorized")
	require.Equal(t, "Bearer", a.Header().Get("WWW-Authenticate"))
	for _, header := range []string{token, "Basic " + token, "Bearer", "Bearer ", "Bearer x" + token} {
		f.do(t, "GET", "/test/manage", "", "Authorization", header).problem(401, "unauthorized")
	}
	require.NotEmpty(t, f.do(t, "GET", "/test/manage", "", "Authorization", "Bearer "+token).json(200)["account"])

	db.MustExec(`UPDATE auth_user SET owner = 0, permissions = 'chats.read'`)
	f.until(t, func() bool {
		return f.do(t, "GET", "/test/manage?unknown=1", "", "Authorization", "Bearer "+token).Code == 403
	}, "a change holds within five seconds, and 403 comes before 422")
	p := f.do(t, "GET", "/test/manage", "", "Authorization", "Bearer "+token).problem(403, "forbidden")
	require.Contains(t, p.Detail, "users.manage")
	f.do(t, "GET", "/user/me?token="+token, "").problem(401, "unauthorized")
}
