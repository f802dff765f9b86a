package server_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/auth"
)

// answers keeps what a server has answered.
type answers struct {
	mu   sync.Mutex
	kept []keptAnswer
}

// keptAnswer is an answer with the request that it answers: "GET /user/me".
type keptAnswer struct{ to, text string }

func (a *answers) keep(r *http.Request, w *httptest.ResponseRecorder) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept = append(a.kept, keptAnswer{r.Method + " " + r.URL.Path, fmt.Sprintf("%d %v\n%s", w.Code, w.Header(), w.Body.String())})
}

// lives is a server in use, with the secrets and the private words that were
// put into it, by what they are.
type lives struct {
	client
	network *graphtest.Server
	secrets map[string]string
	hook    string // a receiver that answers with everything that it got
	ref     int    // a reference of the network
}

const (
	leakNumber = "990"
	leakPhone  = "16505550123"
)

// shown are the answers in which a secret may stand: once, to whoever made it,
// and to the account itself what people say to it.
var shown = map[string]*regexp.Regexp{
	"JWT":                  regexp.MustCompile(`^POST /user/(signup|login)$`),
	"scoped token":         regexp.MustCompile(`^POST /user/token$`),
	"invitation":           regexp.MustCompile(`^POST /user/invitation$`),
	"cookie":               regexp.MustCompile(`^POST /user/login$`),
	"signing secret":       regexp.MustCompile(`^POST /references/registerWebHook$`),
	"given signing secret": regexp.MustCompile(`^POST /references/registerWebHook$`),
	"new signing secret":   regexp.MustCompile(`^PATCH /references/hookconf/`),
	"words":                regexp.MustCompile(`^[A-Z]+ /(chats|sandbox)\b|^GET /references/deliveries$`),
	"phone":                regexp.MustCompile(`^[A-Z]+ /(chats|sandbox)\b|^GET /references/deliveries$`),
}

// TestNothingLeaks plants a secret in every place that takes one, uses each
// for what it is there for, right and wrong, drives every operation, and looks
// for them in all answers, in the log at debug level and in the metrics.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		l := live(t, db)
		l.session(t, db)
		l.references(t)
		l.hooks(t)
		l.foreign(t)
		l.talk(t)
		l.everything(t)
		l.pay(t, "{")
		l.do(t, "POST", "/payments", "{}", "Stripe-Signature", "t=1,v1="+l.secrets["payments secret"]).problem(401, "unauthorized")
		l.log.await(t, "mail") // the mail server is out of reach
		require.Contains(t, l.log.String(), `"level":"DEBUG"`)
		l.check(t)
	})
}

// check looks for the secrets. It shows where one is, and not what else is
// there.
func (l *lives) check(t *testing.T) {
	t.Helper()
	require.Greater(t, len(l.secrets), 15)
	log, counted := l.log.String(), metrics(t, l.fixture)
	for what, secret := range l.secrets {
		require.GreaterOrEqual(t, len(secret), 8, what)
		require.NotContains(t, counted, secret, "%s in the metrics", what)
		for line := range strings.Lines(log) {
			require.NotContains(t, line, secret, "%s in the log", what)
		}
		for _, a := range l.answers.kept {
			if may := shown[what]; may == nil || !may.MatchString(a.to) {
				require.NotContains(t, a.text, secret, "%s in the answer to %s", what, a.to)
			}
		}
	}
}

// live makes a server whose every setting that is a secret is one of ours.
func live(t *testing.T, db *sqlx.DB) *lives {
	t.Helper()
	l := &lives{secrets: map[string]string{
		"server's secret": "canary: the secret of a server, which is long", "payments secret": "whsec_canary_payments", "mail password": "canary-mail-password",
		"access token": "canary-access-token", "app secret": "canary-app-secret", "verify token": "canary-verify-token",
		"later app secret": "canary-later-app-secret", "proxy password": "canary-proxy-password",
		"header": "canary-header-value", "later header": "canary-later-header-value",
		"given signing secret": "whsec_" + base64.StdEncoding.EncodeToString([]byte("a canary of at least 24 bytes")),
		"password":             "canary password", "later password": "canary of a later password", "wrong password": "canary of a wrong password",
		"words": "canary words of a message", "phone": leakPhone, "credential": "canary-of-a-credential",
	}}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusTeapot)
		_, _ = fmt.Fprintf(w, "%v %s", r.Header, body)
	}))
	t.Cleanup(receiver.Close)
	l.hook = receiver.URL
	var f fixture
	l.network = startGraph(t, &graphOptions{
		Numbers: []graphtest.Number{l.number()}, Statuses: []string{"sent", "delivered"}, Callback: "http://trunkline.test/webhooks/provider",
		HTTPClient: into(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.ServeHTTP(w, r) })),
	})
	log := &logBuffer{}
	f = setupOn(t, db, func(c *server.Config) {
		keeping(t)(c)
		c.Logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.GraphURL, c.WebhookAllow = l.network.URL, []string{"127.0.0.1"}
		c.Secrets = []server.Secret{server.Secret(l.secrets["server's secret"])}
		c.PaymentsSecret = server.Secret(l.secrets["payments secret"])
		c.SMTPURL = server.Secret("smtp://chat:" + l.secrets["mail password"] + "@127.0.0.1:1?from=chat@example.org")
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	})
	f.log, f.answers = log, &answers{}
	l.client = client{fixture: working(t, f)}
	return l
}

// number is the reference of the network.
func (l *lives) number() graphtest.Number {
	return graphtest.Number{
		PhoneNumberID: leakNumber, BusinessAccountID: leakNumber + "99",
		AccessToken: l.secrets["access token"], AppSecret: l.secrets["app secret"], VerifyToken: l.secrets["verify token"],
	}
}

// session signs up, logs in by every means and changes the password.
func (l *lives) session(t *testing.T, db *sqlx.DB) {
	t.Helper()
	k := l.secrets
	account := fmt.Sprintf(`{"email":"ana@example.org","password":%q,"name":"Ana"}`, k["password"])
	l.do(t, "POST", "/user/signup", account).json(201)
	l.do(t, "POST", "/user/signup", account).is(202, `{"success":true}`)
	login := func(password string) answer {
		return l.do(t, "POST", "/user/login", fmt.Sprintf(`{"email":"ana@example.org","password":%q,"cookie":true}`, password))
	}
	login(k["wrong password"]).problem(401, "unauthorized")
	l.do(t, "POST", "/user/login", fmt.Sprintf(`{"email":"ana@example.org","password":[%q]}`, k["password"])).problem(422, "validation")
	l.do(t, "POST", "/user/login", fmt.Sprintf(`{"email":%q,"password":"x"}`, k["password"])).problem(422, "validation")
	l.token = login(k["password"]).json(200)["token"].(string)
	me := l.call(t, "GET", "/user/me", "").json(200)["id"]
	change := func(current string) answer {
		return l.call(t, "PATCH", fmt.Sprintf("/user/%s", me), fmt.Sprintf(`{"password":%q,"currentPassword":%q}`, k["later password"], current))
	}
	change(k["wrong password"]).problem(422, "validation")
	change(k["password"]).json(200)
	reset, err := auth.IssueReset(t.Context(), db, "ana@example.org")
	require.NoError(t, err)
	k["reset token"] = reset
	for _, status := range []int{200, 422} { // it works once
		require.Equal(t, status, l.do(t, "POST", "/user/reset", fmt.Sprintf(`{"token":%q,"password":%q}`, reset, k["later password"])).Code)
	}
	a := login(k["later password"])
	l.token = a.json(200)["token"].(string)
	k["JWT"], k["cookie"] = l.token, strings.Split(strings.TrimPrefix(a.Header().Get("Set-Cookie"), "trunkline="), ";")[0]
	l.do(t, "GET", "/user/me", "", "Cookie", "trunkline="+k["cookie"]).json(200)
	scoped := l.call(t, "POST", "/user/token", fmt.Sprintf(`{"name":"P","permissions":["chats.read"],"expiresAt":%d}`, time.Now().Add(time.Hour).Unix()))
	k["scoped token"] = scoped.json(201)["token"].(string)
	l.do(t, "GET", "/user/me", "", "Authorization", "Bearer "+k["scoped token"]).json(200)
	l.do(t, "GET", "/user/me", "", "Authorization", "Basic "+k["JWT"]).problem(401, "unauthorized")
	l.do(t, "POST", "/user/reset", `{"email":"ana@example.org"}`)
	link := l.call(t, "POST", "/user/invitation", `{"email":"invited@example.org","role":"agent","mail":false}`).json(201)["link"].(string)
	_, k["invitation"], _ = strings.Cut(link, "#")
	l.do(t, "POST", "/user/invitation/accept", fmt.Sprintf(`{"token":%q,"name":"I","password":"short"}`, k["invitation"])).problem(422, "validation")
	l.call(t, "DELETE", "/account", fmt.Sprintf(`{"password":%q}`, k["wrong password"])).problem(422, "validation")
}

// references makes references, changes their settings and shakes hands.
func (l *lives) references(t *testing.T) {
	t.Helper()
	k, body := l.secrets, reference(l.number())
	l.ref = l.reference(t, body)
	l.call(t, "POST", "/reference", strings.Replace(body, `"990"`, `"x"`, 1)).problem(422, "validation")
	l.call(t, "POST", "/reference", fmt.Sprintf(`{"name":"W","type":"provider-web","settings":{"proxyUrl":"socks5://user:%s@127.0.0.1:1"}}`, k["proxy password"]))
	set := func(name, value string) answer {
		return l.call(t, "PATCH", fmt.Sprintf("/reference/%d", l.ref), fmt.Sprintf(`{"settings":{%q:%q}}`, name, value))
	}
	set("appSecrets", k["app secret"]).problem(422, "validation")
	set("appSecret", k["later app secret"]).json(200)
	set("appSecret", k["app secret"]).json(200)
	l.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, l.ref)).json(200)
	shake := func(mode, token string) answer {
		return l.do(t, "GET", "/webhooks/provider?hub.mode="+mode+"&hub.challenge=1&hub.verify_token="+token, "")
	}
	require.Equal(t, 200, shake("subscribe", k["verify token"]).Code)
	shake("other", k["verify token"]).problem(403, "forbidden")
}

// foreign keeps credentials, and sends one to a server that answers with it.
func (l *lives) foreign(t *testing.T) {
	t.Helper()
	keep := func(kind, more string) answer {
		return l.call(t, "POST", "/aiflow/credential", fmt.Sprintf(`{"name":"C","kind":%q,"secret":%q%s}`, kind, l.secrets["credential"], more))
	}
	keep("oauth", "").problem(422, "validation")
	keep("header", `,"field":"a b"`).problem(422, "validation")
	keep("bearer", `,"hosts":["*"]`).problem(422, "validation")
	for i, id := range []any{keep("bearer", "").json(201)["id"], keep("query", `,"field":"key"`).json(201)["id"]} {
		s := l.call(t, "POST", "/aiflow/server", fmt.Sprintf(`{"name":"s%d","url":%q,"credential":%q}`, i, l.hook, id)).json(201)
		l.call(t, "POST", fmt.Sprintf("/aiflow/server/%s/refresh", s["id"]), "").problem(502, "provider_error")
	}
}

// hooks registers webhooks, with a signing secret that is made and with one
// that is given, and rotates one.
func (l *lives) hooks(t *testing.T) {
	t.Helper()
	k := l.secrets
	register := func(url, more string) answer {
		return l.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(
			`{"reference":%d,"webhook":%q,"headers":[{"key":"X-Key","value":%q}]%s}`, l.ref, url, k["header"], more))
	}
	ep := register(l.hook, "").json(201)
	k["signing secret"] = ep["secret"].(string)
	register(l.hook+"/given", fmt.Sprintf(`,"secret":%q`, k["given signing secret"]))
	register(l.hook, fmt.Sprintf(`,"secret":%q`, "whsec_"+k["header"])).problem(422, "validation")
	register("http://127.0.0.2/", fmt.Sprintf(`,"secrets":%q`, k["given signing secret"])).problem(422, "validation")
	register("http://user:"+k["header"]+"@127.0.0.1/", "").problem(422, "validation")
	changed := l.call(t, "PATCH", fmt.Sprintf("/references/hookconf/%s", ep["endpointId"]),
		fmt.Sprintf(`{"rotateSecret":true,"headers":[{"key":"X-Key","value":%q}]}`, k["later header"])).json(200)
	k["new signing secret"] = changed["secret"].(string)
	l.call(t, "POST", fmt.Sprintf("/references/hookconf/%s/test", ep["endpointId"]), "").json(200)
	l.call(t, "POST", "/references/hookconf", fmt.Sprintf(`{"id":%d,"webhook":%q,"headers":[{"key":"X-Key","value":%q},{"key":"bad key","value":%q}]}`,
		l.ref, l.hook, k["header"], k["header"])).problem(422, "validation")
}

// talk lets people write, and the network fail in every way.
func (l *lives) talk(t *testing.T) {
	t.Helper()
	k := l.secrets
	_, err := l.network.Write(t.Context(), graphtest.Inbound{From: leakPhone, Name: "Sheena", Text: k["words"]})
	require.NoError(t, err)
	body := sendBody(l.ref, leakPhone, fmt.Sprintf(`{"type":"text","text":%q}`, k["words"]))
	l.call(t, "POST", "/chats/send", body, "Idempotency-Key", "key").json(200)
	l.call(t, "POST", "/chats/send", sendBody(l.ref, leakPhone, fmt.Sprintf(`{"type":%q}`, k["words"]))).problem(422, "validation")
	l.network.Fail(graphtest.Fault{Code: 131009, Message: "Parameter value is not valid"}, graphtest.Fault{Code: 130429, Times: 2}, graphtest.Fault{Cut: true},
		graphtest.Fault{Code: 190, Message: "Session has expired"})
	for range 4 {
		l.call(t, "POST", "/chats/send?wait=1", body)
	}
	l.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d&search=%s", l.ref, leakPhone), "").json(200)
	l.do(t, "POST", "/webhooks/provider", text(leakNumber, leakNumber+"99", leakPhone, "wamid.x", k["words"])).problem(401, "unauthorized")
	l.do(t, "POST", "/webhooks/provider", `{"object":7,"`+k["words"]+`"`, "X-Hub-Signature-256", k["app secret"])
	var list []any
	l.until(t, func() bool { // attempts that the receiver has answered with all that it got
		list = l.call(t, "GET", fmt.Sprintf("/references/deliveries?reference=%d&limit=200", l.ref), "").json(200)["items"].([]any)
		return slices.ContainsFunc(list, func(d any) bool { return len(d.(map[string]any)["attempts"].([]any)) > 0 })
	})
}

// everything sends a valid request to every operation, then the same without
// a token, and with a body that is cut off; what deletes comes last.
func (l *lives) everything(t *testing.T) {
	t.Helper()
	w := walkAs(t, l.client)
	w.values["reference"], w.values["id"], w.values["chatId"] = l.ref, l.ref, leakPhone
	slices.SortStableFunc(w.ops, func(a, b documented) int {
		return strings.Compare(strings.TrimPrefix(a.method, "DELETE"), strings.TrimPrefix(b.method, "DELETE"))
	})
	slices.Reverse(w.ops)
	for _, op := range w.ops {
		w.fire(t, shot{why: "as it should be", op: op})
		if op.raw() {
			continue
		}
		w.fire(t, shot{why: "without a token", op: op, header: maps.Clone(http.Header{}), nobody: true})
		if op.RequestBody != nil {
			valid := encode(t, w.body(op))
			w.fire(t, shot{why: "cut off", op: op, body: valid[:len(valid)-1]})
		}
	}
}
