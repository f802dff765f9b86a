package server_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
)

// ofReferences are the names under which requests name a reference, or
// something that belongs to one by its id alone.
var ofReferences = []string{"reference", "id", "endpointId", "endpoint", "botId", "bot", "extractorId", "runId", "flow"}

// namesNoReference are members that are called like those of ofReferences, and
// are none: the id of a contact, and the flow of a draft.
var namesNoReference = []string{"GET /chats/resolve query.id", "GET /aiusage/rollup query.flow", "GET /aiusage/detail query.flow", "POST /bot body.flow", "PATCH /bot/{botId} body.flow"}

// limitable says whether the permission of an operation can be limited to
// references.
func (op documented) limitable() bool { return auth.Permission(op.permission()).Limitable() }

// TestBindings holds what the document says of each operation with a
// permission: how it is bound to references, and that by everything that names
// one.
func TestBindings(t *testing.T) {
	t.Parallel()
	w := walk(t, setup(t, nil))
	limitable := 0
	for _, op := range w.ops {
		switch {
		case op.permission() == "":
			require.Empty(t, op.References, op.name())
			continue
		case !op.limitable():
			require.Equal(t, []string{"account"}, op.References, op.name())
			continue
		}
		limitable++
		require.NotEmpty(t, op.References, op.name())
		if slices.Contains(op.References, "account") {
			require.Len(t, op.References, 1, op.name())
		}
		named := []string{}
		for _, p := range op.Parameters {
			named = append(named, p.In+"."+p.Name)
		}
		if op.RequestBody != nil && !op.raw() {
			for name := range w.members(op.RequestBody.Content["application/json"].Schema) {
				named = append(named, "body."+name)
			}
		}
		for _, at := range named {
			name := at[strings.IndexByte(at, '.')+1:]
			if slices.Contains(ofReferences, name) && !slices.Contains(namesNoReference, op.name()+" "+at) {
				require.Contains(t, op.References, at, op.name())
			}
		}
		for _, at := range op.References {
			if at == "account" || at == "list" || op.raw() || strings.Count(at, ".") > 1 {
				continue
			}
			require.Contains(t, named, at, op.name())
		}
	}
	require.Greater(t, limitable, 60)
}

// limitedTo are all permissions that can be limited, on one reference.
func limitedTo(reference any) []auth.Permission {
	var out []auth.Permission
	for _, p := range auth.AllPermissions() {
		if p.Limitable() {
			out = append(out, p.On(int64(reference.(int))))
		}
	}
	return out
}

// nestedIDs are requests that name something of a reference deeper in their
// bodies than [walker.foreign] looks.
func nestedIDs(own, theirs map[string]any, flow any) map[string]string {
	return map[string]string{
		"POST /extractor scope.reference":                fmt.Sprintf(`{"name":"E","kind":"entity","scope":{"reference":%v},"config":{"types":["email"]}}`, theirs["reference"]),
		"POST /extractor scope.bot":                      fmt.Sprintf(`{"name":"E","kind":"entity","scope":{"bot":%q},"config":{"types":["email"]}}`, theirs["botId"]),
		"POST /extractor scope.flow":                     fmt.Sprintf(`{"name":"E","kind":"entity","scope":{"flow":%q},"config":{"types":["email"]}}`, flow),
		"PATCH /extractor/{extractorId} scope.reference": fmt.Sprintf(`{"scope":{"reference":%v}}`, theirs["reference"]),
		"PATCH /extractor/{extractorId} scope.bot":       fmt.Sprintf(`{"scope":{"bot":%q}}`, theirs["botId"]),
		"PATCH /extractor/{extractorId} scope.flow":      fmt.Sprintf(`{"scope":{"flow":%q}}`, flow),
		"POST /bot/{botId}/replay chats":                 fmt.Sprintf(`{"chats":[{"reference":%v,"chatId":"ana"}]}`, theirs["reference"]),
		"POST /sandbox/{reference}/messages mediaId":     fmt.Sprintf(`{"from":"ana","type":"image","mediaId":%q}`, theirs["mediaId"]),
		"POST /references/registerWebHook id":            fmt.Sprintf(`{"id":%v,"webhook":"https://example.org/x"}`, theirs["reference"]),
		"POST /chats/send mediaId":                       fmt.Sprintf(`{"reference":%v,"chatId":"ana","message":{"type":"image","mediaId":%q}}`, own["reference"], theirs["mediaId"]),
	}
}

// TestLimitedCallers plays every operation whose permission can be limited as
// a user and as a program with permissions on one of two references: what
// belongs to the other is as if it were not there.
func TestLimitedCallers(t *testing.T) {
	t.Parallel()
	onDoors(t, func(t *testing.T, f fixture, db *sqlx.DB) {
		w := walk(t, f)
		all := w.token
		stop := atWork(t, f)
		theirs := belongings(t, w.client, "ana")
		own := belongings(t, w.client, "ben")
		stop()
		rights := limitedTo(own["reference"])
		_, user := w.member(t, "limited", strings.Split(strings.Trim(strings.ReplaceAll(string(encode(t, rights)), `"`, ""), "[]"), ",")...)
		tokens := map[string]string{"a user": user.token, "a program": w.limitedProgram(t, rights)}
		maps.Copy(w.values, own)
		maps.Copy(w.values, map[string]any{"bot": own["botId"]})
		before := stored(t, db)
		for who, token := range tokens {
			w.token = token
			for _, op := range w.ops {
				if op.limitable() {
					w.outside(t, who, op, theirs)
				}
			}
			for place, body := range nestedIDs(own, theirs, theirs["flowId"]) {
				w.deeper(t, who+" "+place, body, nestedIDs(own, absent(theirs), absent(theirs)["flowId"])[place])
			}
			a := w.upload(t, part{"file", "a.png", "image/png", string(picture(t, 4, 3))}, part{field: "reference", body: fmt.Sprint(theirs["reference"])})
			a.problem(404, "not_found")
		}
		require.Equal(t, before, stored(t, db), "nothing has come of it")
		for _, token := range tokens {
			w.token = token
			w.lists(t, own, theirs)
		}
		played := 0
		for _, op := range w.ops {
			if op.limitable() && !op.raw() && op.method != http.MethodDelete && w.inside(t, op, all) {
				played++
			}
		}
		require.Greater(t, played, 50)
		w.upload(t, part{"file", "a.png", "image/png", string(picture(t, 4, 3))}, part{field: "reference", body: fmt.Sprint(own["reference"])}).json(201)
		for _, path := range []string{"/extractor/" + own["extractorId"].(string), "/bot/" + own["botId"].(string), "/references/hookconf/" + own["endpointId"].(string)} {
			w.call(t, "DELETE", path, "").json(200)
		}
		w.call(t, "DELETE", fmt.Sprintf("/reference/%v", own["reference"]), "").json(202)
		w.call(t, "GET", fmt.Sprintf("/reference/%v", own["reference"]), "").problem(404, "not_found")
	})
}

// outside names everything of a reference outside to an operation.
func (w *walker) outside(t *testing.T, who string, op documented, theirs map[string]any) {
	t.Helper()
	if slices.Contains(op.References, "account") {
		a := w.fire(t, shot{why: who, op: op, statuses: []int{403}})
		require.Contains(t, a.Body.String(), op.permission()+" is required for every reference", op.name())
		return
	}
	if op.raw() {
		return
	}
	shots, nowhere := w.foreign(t, op, theirs), w.foreign(t, op, absent(theirs))
	for i, s := range shots {
		s.why, nowhere[i].why = who+" "+s.why, who+" nowhere "+s.why
		require.Equal(t, w.fire(t, nowhere[i]).Body.String(), w.fire(t, s).Body.String(), "%s %s: another's is as if it were not there", op.name(), s.why)
	}
	named := slices.ContainsFunc(op.References, func(at string) bool { return strings.Count(at, ".") == 1 })
	require.Equal(t, named, len(shots) > 0, "%s: deeper places are in nestedIDs", op.name())
}

// deeper compares the answers to two bodies.
func (w *walker) deeper(t *testing.T, place, body, nowhere string) {
	t.Helper()
	for _, op := range w.ops {
		if !strings.Contains(place, " "+op.name()+" ") {
			continue
		}
		s := shot{why: place, op: op, body: []byte(body), statuses: []int{404}}
		no := s
		no.body = []byte(nowhere)
		require.Equal(t, w.fire(t, no).Body.String(), w.fire(t, s).Body.String(), place)
		return
	}
	require.Fail(t, "no operation", place)
}

// inside plays an operation on the caller's own reference. What is not found
// then is not found by all, a user with every permission, either.
func (w *walker) inside(t *testing.T, op documented, all string) (done bool) {
	t.Helper()
	if slices.Contains(op.References, "account") {
		return false
	}
	s := shot{why: "own", op: op}
	switch op.name() {
	case "POST /extractor":
		s.body = fmt.Appendf(nil, `{"name":"E","kind":"entity","scope":{"bot":%q},"config":{"types":["email"]}}`, w.values["botId"])
	case "POST /extractor/{extractorId}/run":
		s.body = fmt.Appendf(nil, `{"reference":%v,"chatId":"ana","messageId":%q}`, w.values["reference"], w.values["messageId"])
	case "POST /references/deliveries/replay":
		s.body = encode(t, map[string]any{"ids": w.values["ids"]})
	}
	a := w.fire(t, s)
	require.NotContains(t, []int{401, 403}, a.Code, "%s: %s", op.name(), a.Body.String())
	if a.Code != 404 {
		return true
	}
	s.why, s.header = "all", bearer(all) // what the walk names may be nothing
	require.Equal(t, a.Body.String(), w.fire(t, s).Body.String(), op.name())
	return false
}

// lists holds what operations that list show: something of the own reference,
// nothing of the other.
func (w *walker) lists(t *testing.T, own, theirs map[string]any) {
	t.Helper()
	for path, shows := range map[string]string{
		"/reference/list": "", "/bot/list": "botId", "/extractor/list": "extractorId",
		"/aiusage/detail": "none", "/aiusage/rollup?groupBy=reference": "none",
	} {
		a := w.call(t, "GET", path, "")
		items := a.json(200)["items"].([]any)
		if shows != "none" {
			require.NotEmpty(t, items, path)
		}
		for _, id := range []string{"botId", "extractorId", "endpointId", "messageId", "runId"} {
			require.NotContains(t, a.Body.String(), theirs[id], path)
		}
		for _, it := range items {
			item := it.(map[string]any)
			if path == "/reference/list" {
				require.EqualValues(t, own["reference"], item["id"])
			} else if shows != "none" {
				require.Contains(t, a.Body.String(), own[shows], path)
			}
		}
	}
	both := encode(t, map[string]any{"ids": theirs["ids"]})
	w.call(t, "POST", "/references/deliveries/replay", string(both)).problem(404, "not_found")
	mixed := encode(t, map[string]any{"ids": append(slices.Clone(theirs["ids"].([]any)), own["ids"].([]any)...)})
	require.LessOrEqual(t, w.call(t, "POST", "/references/deliveries/replay", string(mixed)).json(200)["queued"], 1.0)
}

// TestLimitedFunctions has a program with permissions on one of two references
// call the functions for agents.
func TestLimitedFunctions(t *testing.T) {
	t.Parallel()
	onDoors(t, func(t *testing.T, f fixture, _ *sqlx.DB) {
		ana := f.as(t, "ana")
		own, other := ana.sandbox(t), ana.sandbox(t)
		ana.write(t, own, "ana", "Hello")
		ana.write(t, other, "ana", "hidden words")
		bots := map[int]string{own: ana.bot(t, own, greeter), other: ana.bot(t, other, greeter)}
		limited := client{f, ana.limitedProgram(t, append(limitedTo(own), auth.MCPExecute))}
		arguments := func(ref int, bot string) map[string]string {
			chat := fmt.Sprintf(`"reference":%d,"chatId":"ana"`, ref)
			return map[string]string{
				"toggle_bot": `{` + chat + `,"active":false}`, "set_variable": `{` + chat + `,"name":"n","value":"x"}`, "get_variables": `{` + chat + `}`,
				"list_chats": fmt.Sprintf(`{"reference":%d}`, ref), "set_bot_active": fmt.Sprintf(`{"reference":%d,"botId":%q,"active":true}`, ref, bot),
				"get_reference_status": fmt.Sprintf(`{"reference":%d}`, ref), "send_message": `{` + chat + `,"text":"Hi"}`, "mark_read": `{` + chat + `}`,
				"get_chat_history": `{` + chat + `}`, "list_templates": fmt.Sprintf(`{"reference":%d}`, ref),
			}
		}
		mine, theirs, absent := arguments(own, bots[own]), arguments(other, bots[other]), arguments(999_999, bots[other])
		for function, args := range mine {
			if function != "list_templates" { // which a sandbox may lack
				limited.executed(t, function, args)
			}
			want := limited.execute(t, function, absent[function]).failed(404, "not_found")
			require.Equal(t, want, limited.execute(t, function, theirs[function]).failed(404, "not_found"), function)
			planned := fmt.Sprintf(`{"function":%q,"arguments":%s,"dryRun":true}`, function, theirs[function])
			require.Equal(t, 404, limited.call(t, "POST", "/service-mcp/execute", planned).Code, function)
			batch := limited.call(t, "POST", "/service-mcp/batch", fmt.Sprintf(`{"calls":[{"function":%q,"arguments":%s}]}`, function, theirs[function]))
			require.Contains(t, batch.Body.String(), `"not_found"`, function)
			require.Contains(t, limited.rpc(t, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, function, theirs[function])).Body.String(), "not_found", function)
		}
		listed := limited.executed(t, "list_references", `{}`)["references"].([]any)
		require.Len(t, listed, 1)
		require.EqualValues(t, own, listed[0].(map[string]any)["id"])
		limited.execute(t, "run_flow", `{"flowId":"x"}`).failed(403, "forbidden")
		tools := limited.rpc(t, "tools/list", `{}`).Body.String()
		require.Contains(t, tools, "get_chat_history")
		require.NotContains(t, tools, "run_flow")
		require.NotContains(t, limited.rpc(t, "resources/read", fmt.Sprintf(`{"uri":"trunkline://reference/%d/chat/ana"}`, other)).Body.String(), "hidden words")
		require.Contains(t, limited.rpc(t, "resources/read", fmt.Sprintf(`{"uri":"trunkline://reference/%d/chat/ana"}`, own)).Body.String(), "Hello")
	})
}

// TestLimitedStream follows an account as a user who may read one of its
// references, then the other.
func TestLimitedStream(t *testing.T) {
	t.Parallel()
	onDoors(t, func(t *testing.T, f fixture, _ *sqlx.DB) {
		srv := httptest.NewServer(f)
		defer srv.Close()
		defer srv.CloseClientConnections()
		ana := f.as(t, "ana")
		one, two := ana.sandbox(t), ana.sandbox(t)
		id, ben := ana.member(t, "ben", string(auth.ChatsRead.On(int64(one))))
		s := ben.follow(t, srv.URL, "").ready(t)
		ana.write(t, two, "cleo", "not for Ben")
		ana.write(t, one, "ana", "for Ben")
		require.Equal(t, "for Ben", s.next(t, "message").text())
		require.Equal(t, 404, ben.call(t, "GET", fmt.Sprintf("/chats/stream?reference=%d", two), "").Code)

		// Another reference: the stream follows within five seconds.
		ana.call(t, "PATCH", "/user/"+id, fmt.Sprintf(`{"permissions":["chats.read@%d"]}`, two)).json(200)
		ana.until(t, func() bool {
			ana.write(t, two, "cleo", "new")
			for {
				select {
				case e := <-s.events:
					if e.Kind == "message" {
						return e.text() == "new"
					}
				default:
					return false
				}
			}
		})
		ana.write(t, one, "ana", "no longer")
		ana.write(t, two, "cleo", "last")
		for {
			text := s.next(t, "message").text()
			require.NotEqual(t, "no longer", text)
			if text == "last" {
				break
			}
		}
		ana.call(t, "PATCH", "/user/"+id, `{"permissions":["chats.send"]}`).json(200)
		s.ended(t)
	})
}

// TestLimitedRequests is what the API says of permissions that are limited.
func TestLimitedRequests(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana, ben := f.as(t, "ana"), f.as(t, "ben")
	ref, theirs := ana.sandbox(t), ben.sandbox(t)
	token := func(permission string) answer {
		return ana.call(t, "POST", "/user/token", fmt.Sprintf(`{"name":"P","permissions":[%q],"expiresAt":%d}`, permission, time.Now().Add(time.Hour).Unix()))
	}
	token(fmt.Sprintf("chats.read@%d", ref)).json(201)
	require.Contains(t, token(fmt.Sprintf("chats.read@%d", theirs)).problem(422, "validation").Errors[0].Message, "does not exist")
	require.Contains(t, token(fmt.Sprintf("users.manage@%d", ref)).problem(422, "validation").Errors[0].Message, "users.manage")
	require.Contains(t, token("chats.read@x").problem(422, "validation").Errors[0].Message, "that exist")

	_, cleo := ana.member(t, "cleo", fmt.Sprintf("chats.read@%d", ref), "chats.send")
	seen := cleo.call(t, "GET", "/user/permissions", "").json(200)
	require.Equal(t, []any{fmt.Sprintf("chats.read@%d", ref), "chats.send"}, seen["permissions"])
	for _, p := range seen["catalogue"].([]any) {
		p := p.(map[string]any)
		require.Equal(t, auth.Permission(p["name"].(string)).Limitable(), p["limitable"])
	}
	ana.call(t, "DELETE", fmt.Sprintf("/reference/%d", ref), "").json(202)
	cleo.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").problem(404, "not_found")
	again := ana.sandbox(t)
	require.Greater(t, again, ref, "an id is not used again")
	cleo.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", again), "").problem(404, "not_found")
}

// TestExtractorsReadNoMessages has a user who may configure extractors, but
// not read chats, run one on a message.
func TestExtractorsReadNoMessages(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref, other := ana.sandbox(t), ana.sandbox(t)
		message := ana.write(t, ref, "ana", "my card is 4111")
		_, ben := ana.member(t, "ben", "extractors.manage")
		find := ben.extractor(t, ref, "regex", `{"pattern":"(?P<all>.+)"}`)
		run := fmt.Sprintf(`{"reference":%d,"chatId":"ana","messageId":%q}`, ref, message)
		p := ben.call(t, "POST", "/extractor/"+find+"/run", run).problem(403, "forbidden")
		require.Contains(t, p.Detail, "chats.read")
		ben.call(t, "POST", "/extractor/"+find+"/run", `{"text":"4111"}`).json(200)

		_, cleo := ana.member(t, "cleo", "extractors.manage", fmt.Sprintf("chats.read@%d", other))
		cleo.call(t, "POST", "/extractor/"+find+"/run", run).problem(404, "not_found")
		_, dora := ana.member(t, "dora", "extractors.manage", fmt.Sprintf("chats.read@%d", ref))
		require.Contains(t, dora.call(t, "POST", "/extractor/"+find+"/run", run).Body.String(), "4111")
	})
}

// limitedProgram makes a token for a program.
func (c client) limitedProgram(t *testing.T, permissions []auth.Permission) string {
	t.Helper()
	_, program := c.scoped(t, string(encode(t, permissions)))
	return program.token
}
