package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/keyring"
)

// matrix is an account that has something of everything, with a canary
// wherever a text may stand, and requests for all of it.
type matrix struct {
	*walker                // as an owner of it
	theirs  map[string]any // what the account has, by the names of requests
	samples map[string]map[string]exchange
	asked   int
}

func newMatrix(t *testing.T, f fixture, db *sqlx.DB) *matrix {
	t.Helper()
	m := &matrix{walker: walk(t, f)}
	m.db = db
	b, err := os.ReadFile(examplesFile)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &m.samples))
	stop := atWork(t, f)
	m.theirs = belongings(t, m.client, canary)
	ref := m.theirs["reference"]
	m.write(t, ref.(int), "ana", canary)
	m.write(t, ref.(int), "bob", "Bye")
	for name, path := range map[string]string{"id": "/reference", "botId": "/bot", "extractorId": "/extractor", "projectId": "/aiflow/project", "flowId": "/aiflow/flow"} {
		m.call(t, "PATCH", fmt.Sprintf("%s/%v", path, m.theirs[name]), fmt.Sprintf(`{"name":%q}`, canary)).json(200)
	}
	m.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%v,"chatId":"ana","variables":{"secret":%q}}`, ref, canary)).json(200)
	m.call(t, "POST", "/aiflow/credential", fmt.Sprintf(`{"name":%q,"kind":"bearer","secret":%q}`, canary, canary)).json(201)
	job := m.call(t, "DELETE", fmt.Sprintf("/chats?reference=%v&chatId=bob", ref), "").json(202)["job"].(map[string]any)
	f.until(t, func() bool {
		return m.call(t, "GET", "/jobs/"+job["id"].(string), "").json(200)["state"] == "completed"
	})
	stop()
	maps.Copy(m.theirs, map[string]any{
		"jobId": job["id"], "chatId": "ana", "bot": m.theirs["botId"], "flow": m.theirs["flowId"], "user": m.theirs["userId"], "credential": m.theirs["credentialId"],
	})
	maps.Copy(m.values, m.theirs)
	return m
}

// request is what an operation's example asks, of what the account has: in its
// path, its query and its body.
func (m *matrix) request(t *testing.T, op documented) shot {
	t.Helper()
	s := shot{op: op, path: m.fill(op.path), query: url.Values{}}
	if op.path == "/jobs/{id}" {
		s.path = "/jobs/" + m.theirs["jobId"].(string)
	}
	var sample exchange
	for _, status := range slices.Sorted(maps.Keys(m.samples[op.OperationID])) {
		if strings.HasPrefix(status, "2") {
			sample = m.samples[op.OperationID][status]
			break
		}
	}
	for name, v := range sample.Query {
		s.query.Set(name, v)
	}
	for name, v := range m.query(op) {
		s.query[name] = v
	}
	for _, p := range op.Parameters {
		if id, ok := m.theirs[p.Name]; ok && p.In == "query" && p.Name != "ids" {
			s.query.Set(p.Name, fmt.Sprint(id))
		}
	}
	s.query.Del("cursor")
	switch {
	case op.path == "/media":
		s.body, s.mime = m.form(t)
	case op.path == "/service-mcp/batch":
		s.body = fmt.Appendf(nil, `{"calls":[{"function":"get_chat_history","arguments":{"reference":%v,"chatId":"ana"}}]}`, m.theirs["reference"])
	case op.path == "/service-mcp/execute":
		s.body = fmt.Appendf(nil, `{"function":"get_chat_history","arguments":{"reference":%v,"chatId":"ana"}}`, m.theirs["reference"])
	case op.RequestBody != nil && !op.raw() && sample.Request != nil:
		var v any
		require.NoError(t, json.Unmarshal(sample.Request, &v), op.name())
		s.body = encode(t, m.named(v, true))
	}
	return s
}

// form is an upload for the account's reference.
func (m *matrix) form(t *testing.T) (body []byte, mime string) {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	require.NoError(t, form.WriteField("reference", fmt.Sprint(m.theirs["reference"])))
	w, err := form.CreateFormFile("file", "a.png")
	require.NoError(t, err)
	_, err = w.Write(picture(t, 4, 3))
	require.NoError(t, err)
	require.NoError(t, form.Close())
	return b.Bytes(), form.FormDataContentType()
}

// named replaces what a body names by what the account has: at the top
// whatever is called so, deeper what cannot be called so by accident.
func (m *matrix) named(v any, top bool) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = m.named(v[i], false)
		}
	case map[string]any:
		for name, was := range v {
			id, ok := m.theirs[name]
			_, number := was.(float64)
			_, text := was.(string)
			_, ours := id.(int)
			switch {
			case name == "email":
				m.asked++
				v[name] = fmt.Sprintf("asked%d@example.org", m.asked) // so that nothing is limited by it
			case name == "expiresAt":
				v[name] = time.Now().Add(time.Hour).Unix()
			case ok && (top || name != "id") && (number && ours || text && !ours):
				v[name] = id
			default:
				v[name] = m.named(was, false)
			}
		}
	}
	return v
}

// names says whether a request names something of the account's.
func (m *matrix) names(op documented, s shot) bool {
	if strings.Contains(op.path, "{") || op.path == "/media" || op.path == "/service-mcp/execute" {
		return true
	}
	for name, v := range s.query {
		if id, ok := m.theirs[name]; ok && name != "chatId" && v[0] == fmt.Sprint(id) {
			return true
		}
	}
	var top struct{ ID, Reference any }
	_ = json.Unmarshal(s.body, &top) // a form is no JSON
	ref := fmt.Sprint(m.theirs["reference"])
	return fmt.Sprint(top.ID) == ref || fmt.Sprint(top.Reference) == ref || m.tells(string(s.body)) != ""
}

// tells is which of what the account has a text names by its id, or "".
func (m *matrix) tells(text string) string {
	for name, v := range m.theirs {
		if id, ok := v.(string); ok && name != "chatId" && strings.Contains(text, id) {
			return name
		}
	}
	return ""
}

// filters are lists that show nothing to whoever names what is not there.
var filters = []string{"GET /aiusage/detail", "GET /aiusage/rollup", "GET /audit", "GET /service-mcp/audit"}

// nothing are the statuses of a request for what is not there for its caller:
// 404 when it names something, else whatever is not about others.
func (m *matrix) nothing(op documented, s shot) []int {
	switch {
	case slices.Contains(filters, op.name()) || op.path == "/service-mcp/batch":
		return []int{200} // see [matrix.ask]
	case m.names(op, s):
		return []int{404}
	}
	return []int{200, 201, 202, 404, 409, 422}
}

// ask sends a shot, by default the operation's example.
func (m *matrix) ask(t *testing.T, s shot) *httptest.ResponseRecorder {
	t.Helper()
	e := m.request(t, s.op)
	if s.path == "" {
		s.path = e.path
	}
	if s.query == nil {
		s.query = e.query
	}
	if s.body == nil {
		s.body, s.mime = e.body, e.mime
	}
	a := m.fire(t, s)
	about := fmt.Sprintf("%s: %s %d %s", s.why, s.op.name(), a.Code, a.Body.String())
	require.NotEqual(t, 429, a.Code, about)
	require.NotContains(t, a.Body.String(), canary, about)
	if a.Code == 200 && slices.Contains(filters, s.op.name()) {
		require.Contains(t, a.Body.String(), `{"items":[],`, about)
	}
	if a.Code == 200 && s.op.path == "/service-mcp/batch" {
		require.NotContains(t, a.Body.String(), `"success":true`, about)
		require.Contains(t, a.Body.String(), `"not_found"`, about)
	}
	return a
}

// others asks every operation as the owner of another account, for what the
// account has: nothing is there, and lists are empty of it.
func (m *matrix) others(t *testing.T) (requests int) {
	t.Helper()
	base := m.ground(t)
	var other client
	for _, op := range m.ops {
		if len(op.Security) == 0 {
			continue
		}
		if other.token == "" || m.do(t, "GET", "/user/me", "", "Authorization", "Bearer "+other.token).Code != 200 { // it has logged out, or deleted itself
			other = m.as(t, fmt.Sprintf("stranger%d", requests))
		}
		s := m.request(t, op)
		s.why, s.header, s.statuses = "owner of another account", bearer(other.token), m.nothing(op, s)
		a := m.ask(t, s)
		require.Empty(t, m.tells(a.Body.String()), "%s: %s", op.name(), a.Body.String())
		requests++
	}
	after := m.ground(t)
	for table, rows := range base {
		for row := range rows {
			require.Contains(t, after[table], row, "a stranger changed something in %s", table)
		}
	}
	for table, rows := range after {
		for row := range rows {
			if _, was := base[table][row]; was {
				continue
			}
			require.NotContains(t, row, canary, table)
			require.Empty(t, m.tells(row), "a stranger's row in %s: %s", table, row)
		}
	}
	return requests
}

// publicly asks the operations that need no token, with tokens that are none:
// they are answered as without one, and nothing of the account changes.
func (m *matrix) publicly(t *testing.T) (requests int) {
	t.Helper()
	base := m.ground(t)
	bad, _ := forgeries(t, m.token)
	bad["of the owner"] = m.token
	for _, op := range m.ops {
		if len(op.Security) > 0 {
			continue
		}
		bare := m.ask(t, shot{why: "no token", op: op, header: http.Header{}, nobody: true})
		for why, token := range bad {
			m.ask(t, shot{why: why, op: op, header: bearer(token), statuses: []int{bare.Code}})
			requests++
		}
	}
	after := m.ground(t)
	for table, rows := range base {
		for row := range rows {
			require.Contains(t, after[table], row, table)
		}
	}
	return requests
}

// signIn logs the owner in, in a browser.
func (m *matrix) signIn(t *testing.T) answer {
	t.Helper()
	return m.do(t, "POST", "/user/login", logIn)
}

// ended are tokens that were good.
func (m *matrix) ended(t *testing.T) map[string]string {
	t.Helper()
	id, deleted := m.member(t, "deleted")
	m.call(t, "DELETE", "/user/"+id, "").json(200)
	id, disabled := m.member(t, "disabled", "chats.read")
	m.call(t, "PATCH", "/user/"+id, `{"disabled":true}`).json(200)
	closed := m.as(t, "closed")
	closed.call(t, "DELETE", "/account", fmt.Sprintf(`{"password":%q}`, pass)).json(202)
	id, program := m.client.scoped(t, `["chats.read"]`)
	m.call(t, "DELETE", "/user/token/"+id, "").json(200)
	out := client{m.fixture, m.signIn(t).json(200)["token"].(string)}
	out.call(t, "POST", "/user/logout", "").json(200)
	revoked := client{m.fixture, m.signIn(t).json(200)["token"].(string)}
	for _, s := range revoked.sessions(t, "")["cookie"] {
		if s["current"] == true {
			m.call(t, "DELETE", "/user/sessions/"+s["id"].(string), "").json(200)
		}
	}
	_, changed := m.member(t, "changed")
	me := changed.call(t, "GET", "/user/me", "").json(200)["id"].(string)
	changed.call(t, "PATCH", "/user/"+me, fmt.Sprintf(`{"password":"correct mule","currentPassword":%q}`, pass)).json(200)
	return map[string]string{
		"of a deleted user": deleted.token, "of a disabled user": disabled.token, "of a closed account's user": closed.token, "of a program, revoked": program.token,
		"logged out": out.token, "of a revoked session": revoked.token, "from before a new password": changed.token,
	}
}

// unscoped is a program's token without its limits, signed with our key.
func (m *matrix) unscoped(t *testing.T, token string) string {
	t.Helper()
	ring, err := keyring.New("auth", []string{secret})
	require.NoError(t, err)
	claims := jwt.MapClaims{}
	_, _, err = jwt.NewParser().ParseUnverified(token, claims)
	require.NoError(t, err)
	delete(claims, "scp")
	claims["exp"] = time.Now().Add(time.Hour).Unix()
	return forge(t, jwt.SigningMethodHS256, ring.Keys("jwt")[0], claims, nil)
}

// bookkeeping are tables and columns that say when somebody came by, and
// nothing else.
var bookkeeping = []string{"auth_limit", "passkey_challenge", "auth_session.used_us", "auth_session.address", "auth_session.agent", "auth_session.expires_us"}

// ground is every row that is stored, by its table.
func (m *matrix) ground(t *testing.T) map[string]map[string]int {
	t.Helper()
	q := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
	if m.db.DriverName() == "postgres" {
		q = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`
	}
	var tables []string
	require.NoError(t, m.db.SelectContext(t.Context(), &tables, q))
	require.Greater(t, len(tables), 50)
	out := map[string]map[string]int{}
	for _, table := range tables {
		if slices.Contains(bookkeeping, table) {
			continue
		}
		out[table] = m.rowsOf(t, table)
	}
	return out
}

// rowsOf counts the rows of a table that are alike but for the bookkeeping.
func (m *matrix) rowsOf(t *testing.T, table string) map[string]int {
	t.Helper()
	rows, err := m.db.QueryContext(t.Context(), `SELECT * FROM `+table)
	require.NoError(t, err)
	defer rows.Close() //nolint:errcheck // Err reports it
	out := map[string]int{}
	for rows.Next() {
		row := map[string]any{}
		require.NoError(t, sqlx.MapScan(rows, row))
		for name, v := range row {
			if b, ok := v.([]byte); ok {
				row[name] = string(b)
			}
			if slices.Contains(bookkeeping, table+"."+name) {
				delete(row, name)
			}
		}
		out[fmt.Sprint(row)]++
	}
	require.NoError(t, rows.Err())
	return out
}
