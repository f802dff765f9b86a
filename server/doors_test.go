package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/auth"
)

// onDoors runs fn with a server that every request reaches from an address of
// its own.
func onDoors(t *testing.T, fn func(t *testing.T, f fixture, db *sqlx.DB)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, setupOn(t, db, func(c *server.Config) {
			keeping(t)(c)
			c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
		}), db)
	})
}

// bearer is the header of a token.
func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// TestTokensOfStrangers tries every operation with no token, and with every
// kind that is not, or no longer, a token of ours.
func TestTokensOfStrangers(t *testing.T) {
	t.Parallel()
	onDoors(t, func(t *testing.T, f fixture, db *sqlx.DB) {
		w := walk(t, f)
		old := w.token
		me := w.call(t, "GET", "/user/me", "").json(200)
		w.call(t, "PATCH", "/user/"+me["id"].(string), `{"password":"correct mule","currentPassword":"correct horse"}`).json(200)
		w.token = f.do(t, "POST", "/user/login", `{"email":"ana@example.org","password":"correct mule"}`).json(200)["token"].(string)
		tokens, genuine := forgeries(t, w.token)
		tokens["from before the new password"] = old
		require.Equal(t, 200, f.do(t, "GET", "/user/me", "", "Authorization", "Bearer "+genuine).Code)

		before, tried := stored(t, db), 0
		for _, op := range w.ops {
			if len(op.Security) == 0 {
				continue
			}
			for why, token := range tokens {
				w.fire(t, shot{why: why, op: op, header: bearer(token), statuses: []int{401}})
			}
			for why, h := range map[string]http.Header{
				"no token": {}, "no cookie": {"Cookie": {"trunkline="}}, "cookie of nobody": {"Cookie": {"trunkline=" + strings.Repeat("x", 43)}},
				"a token as the cookie": {"Cookie": {"trunkline=" + w.token}}, "a token in the query": {"X-Token": {w.token}},
			} {
				s := shot{why: why, op: op, header: h, nobody: true, statuses: []int{401}}
				if why == "a token in the query" {
					s.query = with(w.query(op), "token", w.token)
				}
				w.fire(t, s)
			}
			tried++
		}
		require.Greater(t, tried, 30)
		require.Equal(t, before, stored(t, db))
	})
}

// TestWithoutPermission tries every operation that needs a permission as a
// user, with a cookie and with a scoped token that have all others: 403 comes
// before 404 and 422. What needs a login refuses any scoped token.
func TestWithoutPermission(t *testing.T) {
	t.Parallel()
	onDoors(t, func(t *testing.T, f fixture, db *sqlx.DB) {
		w := walk(t, f)
		lacking := map[string][]http.Header{}
		scoped := func(without auth.Permission) http.Header {
			return bearer(w.scoped(t, slices.DeleteFunc(auth.AllPermissions(), func(p auth.Permission) bool { return p == without })))
		}
		for i, p := range auth.AllPermissions() {
			rest := encode(t, slices.DeleteFunc(auth.AllPermissions(), func(o auth.Permission) bool { return o == p }))
			email := fmt.Sprintf("user%d@example.org", i)
			from := []string{"X-Forwarded-For", fmt.Sprintf("10.200.0.%d", i)}
			w.call(t, "POST", "/user", fmt.Sprintf(`{"email":%q,"password":"correct horse","name":"U","permissions":%s}`, email, rest), from...).json(201)
			a := f.do(t, "POST", "/user/login", fmt.Sprintf(`{"email":%q,"password":"correct horse","cookie":true}`, email), from...)
			lacking[string(p)] = []http.Header{
				bearer(a.json(200)["token"].(string)), scoped(p), {"Cookie": {strings.Split(a.Header().Get("Set-Cookie"), ";")[0]}},
			}
		}
		all, before := scoped(""), stored(t, db)
		for _, op := range w.ops {
			if strings.Contains(permissions[op.name()], "login") || strings.HasSuffix(permissions[op.name()], byLogin) {
				w.fire(t, shot{why: "scoped", op: op, header: all.Clone(), statuses: []int{403}})
			}
			need := op.permission()
			for _, h := range lacking[need] {
				for _, s := range []shot{
					{}, {query: url.Values{"nonsense": {"1"}}}, {path: parameterInPath.ReplaceAllString(op.path, "999")}, {body: []byte("{")},
				} {
					s.why, s.op, s.header, s.nobody, s.statuses = "without "+need, op, h.Clone(), true, []int{403}
					w.fire(t, s)
				}
			}
		}
		require.Equal(t, before, stored(t, db))
	})
}

// scoped makes a token for a program.
func (w *walker) scoped(t *testing.T, permissions []auth.Permission) string {
	t.Helper()
	a := w.call(t, "POST", "/user/token", fmt.Sprintf(`{"name":"Program","permissions":%s,"expiresAt":%d}`, encode(t, permissions), time.Now().Add(time.Hour).Unix()))
	return a.json(201)["token"].(string)
}

// atWork runs the workers of a server until stop is called.
func atWork(t *testing.T, f fixture) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(t, <-done)
	}
}

// belongings makes something of everything that has an id, for an account, by
// the names under which requests call it.
func belongings(t *testing.T, c client, other string) map[string]any {
	t.Helper()
	ref := c.sandbox(t)
	hook := fmt.Sprintf(`{"reference":%d,"webhook":"https://example.org/%s"}`, ref, other)
	endpoint := c.call(t, "POST", "/references/registerWebHook", hook).json(201)["endpointId"]
	message := c.write(t, ref, "ana", "Hello")
	user := c.call(t, "POST", "/user", fmt.Sprintf(`{"email":"other-%s@example.org","password":"correct horse","name":"O","permissions":[]}`, other)).json(201)["id"]
	token := c.call(t, "POST", "/user/token", fmt.Sprintf(`{"name":"P","permissions":["chats.read"],"expiresAt":%d}`, time.Now().Add(time.Hour).Unix())).json(201)["id"]
	file := c.upload(t, part{"file", "a.png", "image/png", string(picture(t, 4, 3))}, part{field: "reference", body: fmt.Sprint(ref)}).json(201)["mediaId"]
	bot := c.call(t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"B","flow":%s}`, ref, greeter)).json(201)["id"].(string)
	project, publish := c.project(t)
	flow := publish(paid)
	known := c.call(t, "POST", fmt.Sprintf("/aiflow/project/%s/file", project), `{"name":"a.txt","text":"A"}`).json(201)["id"]
	find := c.call(t, "POST", "/extractor", fmt.Sprintf(`{"name":"E","kind":"entity","scope":{"reference":%d},"config":{"types":["email"]}}`, ref)).json(201)["id"]
	run := c.call(t, "POST", "/aiflow/run", fmt.Sprintf(`{"flowId":%q,"chatId":"ana","reference":%d}`, flow, ref)).json(201)["id"]
	credential := c.call(t, "POST", "/aiflow/credential", `{"name":"C","kind":"bearer","secret":"a token of nobody"}`).json(201)["id"]
	foreign := c.call(t, "POST", "/aiflow/server", fmt.Sprintf(`{"name":"shop-%s","url":"https://example.org/mcp"}`, other)).json(201)["id"]
	require.NoError(t, c.Messaging.Receive(t.Context(), provider.ReferenceID(ref), []provider.Event{&provider.Message{}}))
	var deliveries []any
	c.until(t, func() bool {
		deliveries = c.call(t, "GET", fmt.Sprintf("/references/deliveries?reference=%d", ref), "").json(200)["items"].([]any)
		return len(deliveries) > 0
	})
	invitation := c.call(t, "POST", "/user/invitation", fmt.Sprintf(`{"email":"invited-%s@example.org","role":"viewer"}`, other)).json(201)["invitation"].(map[string]any)["id"]
	return map[string]any{
		"reference": ref, "id": ref, "endpointId": endpoint, "endpoint": endpoint, "messageId": message, "userId": user, "tokenId": token, "sessionId": token, "passkeyId": c.passkey(t), "invitationId": invitation, "mediaId": file,
		"botId": bot, "extractorId": find, "projectId": project, "fileId": known, "flowId": flow, "runId": run, "credentialId": credential, "serverId": foreign,
		"letterId": c.letters(t, ref)[0]["id"],
		"ids":      []any{deliveries[0].(map[string]any)["id"]},
	}
}

// namesOther are members and parameters that end like ids and name nothing of
// an account's: ids of calls and chats and what a sender calls a message say nothing
// without their reference, nor a step's without its run, nor an object's of the
// audit log, which has only the entries of the account.
var namesOther = []string{"callId", "chatId", "clientId", "stepId", "objectId"}

// within are filters by ids: one that leads nowhere finds nothing.
var within = map[string]int{
	"GET /references/deliveries query.messageId": 200, // an empty list
	"GET /audit query.reference":                 200, // an empty list
	"GET /aiusage/rollup query.reference":        200, // nothing
	"GET /aiusage/detail query.reference":        200, // an empty list
}

// isID says whether a member or parameter names something that belongs to an
// account. One that looks like it, and of which nobody has said what it is,
// fails the test.
func isID(t *testing.T, op documented, name string, ids map[string]any) bool {
	t.Helper()
	_, known := ids[name]
	looks := strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "Ids") || name == "id" || name == "ids"
	require.True(t, known || !looks || slices.Contains(namesOther, name), "%s: say in belongings, or in namesOther, what %s is", op.name(), name)
	return known
}

// TestThingsOfOthers gives every operation, one by one in each place where it
// takes an id, the id of something of another account; all else is the
// caller's own. Nothing is there.
func TestThingsOfOthers(t *testing.T) {
	t.Parallel()
	onDoors(t, func(t *testing.T, f fixture, db *sqlx.DB) {
		w := walk(t, f)
		stop := atWork(t, f)
		theirs := belongings(t, w.client, "ana")
		w.token = f.signUp(t, "ben@example.org")
		own := belongings(t, w.client, "ben")
		maps.Copy(w.values, own)
		stop()
		before := stored(t, db)
		for _, op := range w.ops {
			if len(op.Security) == 0 || op.raw() {
				continue
			}
			shots, nowhere := w.foreign(t, op, theirs), w.foreign(t, op, absent(theirs))
			require.True(t, len(shots) > 0 || op.permission() != "" || permissions[op.name()] == anyUser || permissions[op.name()] == personal || permissions[op.name()] == byOwner,
				"%s takes no id and needs no permission: who may use it?", op.name())
			for i, s := range shots {
				a := w.fire(t, s)
				require.Equal(t, w.fire(t, nowhere[i]).Body.String(), a.Body.String(), "%s: another's is as if it were not there", op.name())
			}
		}
		a := w.upload(t, part{"file", "a.png", "image/png", string(picture(t, 4, 3))}, part{field: "reference", body: fmt.Sprint(theirs["reference"])})
		a.problem(404, "not_found")
		require.Equal(t, before, stored(t, db), "nothing has come of it")
	})
}

// absent are ids like those of belongings, of things that never were.
func absent(ids map[string]any) map[string]any {
	const id = "01890a5d-ac96-774b-bcce-b302099a8057"
	out := map[string]any{}
	for name, v := range ids {
		switch v.(type) {
		case int:
			out[name] = 999_999
		case []any:
			out[name] = []any{id}
		default:
			out[name] = id
		}
	}
	return out
}

// foreign are requests of an operation, each with one id of another account.
func (w *walker) foreign(t *testing.T, op documented, theirs map[string]any) []shot {
	t.Helper()
	var out []shot
	add := func(place string, change func(s *shot, v any)) {
		if name := place[strings.LastIndex(place, ".")+1:]; isID(t, op, name, theirs) {
			s := shot{why: place, op: op, statuses: []int{404}}
			if status := within[op.name()+" "+place]; status != 0 {
				s.statuses = []int{status}
			}
			change(&s, theirs[name])
			out = append(out, s)
		}
	}
	for _, p := range op.Parameters {
		switch p.In {
		case "path":
			require.True(t, isID(t, op, p.Name, theirs), "%s: say in belongings what %s is", op.name(), p.Name)
			add("path."+p.Name, func(s *shot, v any) { s.path = w.fill(strings.ReplaceAll(op.path, "{"+p.Name+"}", fmt.Sprint(v))) })
		case "query":
			add("query."+p.Name, func(s *shot, v any) { s.query = with(w.query(op), p.Name, fmt.Sprint(v)) })
		}
	}
	if op.RequestBody == nil || op.raw() {
		return out
	}
	valid, _ := w.body(op).(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(w.members(op.RequestBody.Content["application/json"].Schema))) {
		add("body."+name, func(s *shot, v any) {
			b := maps.Clone(valid)
			if op.name() == "POST /extractor/{extractorId}/run" {
				b = map[string]any{"reference": w.values["reference"], "chatId": "ana", "messageId": w.values["messageId"]}
			}
			b[name] = v
			if name == "endpoint" {
				b["since"], b["until"] = 1, time.Now().Unix()
			}
			s.body = encode(t, b)
		})
	}
	if op.name() == "POST /chats/send" {
		for _, nested := range []string{"message.mediaId", "context.messageId"} {
			add("body."+nested, func(s *shot, v any) {
				b := maps.Clone(valid)
				if b["context"] = map[string]any{"messageId": v}; nested == "message.mediaId" {
					delete(b, "context")
					b["message"] = map[string]any{"type": "image", "mediaId": v}
				}
				s.body = encode(t, b)
			})
		}
	}
	return out
}

// TestCookieFromElsewhere sends what changes something with a cookie: from a
// page of another site it is refused, by every operation.
func TestCookieFromElsewhere(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *server.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	w := walk(t, f)
	a := f.do(t, "POST", "/user/login", `{"email":"ana@example.org","password":"correct horse","cookie":true}`)
	cookie := strings.Split(a.Header().Get("Set-Cookie"), ";")[0]
	require.NotEmpty(t, cookie)
	elsewhere := map[string]http.Header{
		"another site": {"Sec-Fetch-Site": {"cross-site"}}, "another host of the site": {"Sec-Fetch-Site": {"same-site"}},
		"another origin": {"Origin": {"https://evil.example"}}, "no origin": {"Origin": {"null"}},
		"a lie": {"Sec-Fetch-Site": {"cross-site"}, "Origin": {"http://example.com"}},
	}
	tried := 0
	for _, op := range w.ops {
		if len(op.Security) == 0 {
			continue
		}
		for why, h := range elsewhere {
			h = h.Clone()
			h.Set("Cookie", cookie)
			s := shot{why: "cookie from " + why, op: op, header: h, nobody: true, statuses: []int{403}}
			if op.method == http.MethodGet {
				if op.path == "/user/token" || op.streams() {
					continue
				}
				s.statuses = []int{200, 404, 422} // it changes nothing, and another page does not see it
			}
			w.fire(t, s)
			tried++
		}
	}
	require.Greater(t, tried, 100)
	here := http.Header{"Cookie": {cookie}, "Sec-Fetch-Site": {"same-origin"}, "Origin": {"http://localhost:3000"}}
	for _, op := range w.ops {
		if op.name() == "PATCH /chats" || op.name() == "POST /reference" {
			w.fire(t, shot{why: "cookie from here", op: op, header: here.Clone(), nobody: true, statuses: []int{200, 201, 422}})
			both := elsewhere["another site"].Clone()
			both.Set("Cookie", cookie)
			both.Set("Authorization", "Bearer "+w.token)
			w.fire(t, shot{why: "the bearer counts", op: op, header: both, statuses: []int{200, 201, 422}})
		}
	}
	var p server.Problem
	require.NoError(t, json.Unmarshal(f.post(t, text("1", "199", contact, "wamid.1", "Hello"), "x", "Cookie", cookie, "Sec-Fetch-Site", "cross-site").Body.Bytes(), &p))
	require.Equal(t, 401, p.Status, "callbacks look at no cookie")
}
