package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/server"
)

// canary is in refused values: no answer may repeat it.
const canary = "hush-hush"

// schema is what the walk reads of a JSON schema.
type schema struct {
	Ref        string `json:"$ref"`
	Type       any
	Properties map[string]*schema
	Required   []string
	Items      *schema
	OneOf      []*schema
	Enum       []any
	Minimum    *float64
	Maximum    *float64
	MaxLength  int
	MaxItems   int
	MinItems   int
}

// parameter is what the walk reads of a parameter.
type parameter struct {
	Name, In string
	Required bool
	Schema   *schema
}

// documented is an operation of the document.
type documented struct {
	method, path string
	OperationID  string `json:"operationId"`
	Parameters   []parameter
	Security     []map[string][]string
	LoginOnly    bool     `json:"x-login-only"`
	OwnerOnly    bool     `json:"x-owner-only"`
	References   []string `json:"x-references"`
	RequestBody  *struct {
		Required bool
		Content  map[string]struct{ Schema *schema }
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema json.RawMessage }
	}
}

// raw says that the body is no JSON of the API's: it is foreign, or a form.
func (op documented) raw() bool {
	return op.path == "/webhooks/provider" || op.path == "/media" || op.path == "/payments"
}

// bound is the most bytes of a body, in MiB.
func (op documented) bound() int {
	switch op.path {
	case "/bot", "/bot/{botId}", "/bot/{botId}/simulate", "/aiflow/flow", "/aiflow/flow/{flowId}", "/aiflow/flow/{flowId}/simulate":
		return 2
	case "/extractor", "/extractor/{extractorId}":
		return 8
	case "/aiflow/project/{projectId}/file":
		return 21
	case "/aiflow/project/import":
		return 9
	}
	return 1
}

// streams says that the answer does not end by itself.
func (op documented) streams() bool {
	_, ok := op.Responses["200"].Content["text/event-stream"]
	return ok
}

// walker sends requests that are made from the document.
type walker struct {
	client
	db      *sqlx.DB
	ops     []documented
	schemas map[string]*schema
	values  map[string]any // valid values by the name of a member or parameter
	peers   atomic.Uint32
}

// walk reads the document of a server in which there is something of
// everything.
func walk(t *testing.T, f fixture) *walker {
	t.Helper()
	return walkAs(t, f.as(t, "ana"))
}

// walkAs is walk for a user that exists.
func walkAs(t *testing.T, c client) *walker {
	t.Helper()
	w := &walker{client: c}
	var d struct {
		Paths      map[string]map[string]*documented
		Components struct{ Schemas map[string]*schema }
	}
	require.NoError(t, json.Unmarshal(c.do(t, "GET", "/swagger/openapi.json", "").Body.Bytes(), &d))
	w.schemas = d.Components.Schemas
	for path, methods := range d.Paths {
		for method, op := range methods {
			op.method, op.path = strings.ToUpper(method), path
			w.ops = append(w.ops, *op)
		}
	}
	slices.SortFunc(w.ops, func(a, b documented) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	ref := w.sandbox(t)
	w.write(t, ref, "ana", "Hello")
	ep := w.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q}`, ref, echoURL)).json(201)
	w.values = map[string]any{
		"reference": ref, "id": ref, "chatId": "ana", "endpointId": ep["endpointId"], "from": "ana", "type": "text", "text": "Hi",
		"message": map[string]any{"type": "text", "text": "Hi"}, "webhook": "https://example.org/walk", "name": "Walk",
		"email": "walk@example.org", "password": "correct horse", "function": "list_references",
	}
	return w
}

// shot is one request and what must come of it.
type shot struct {
	why      string
	op       documented
	path     string // "": the operation's, filled in
	query    url.Values
	header   http.Header
	body     []byte // nil: a valid one where one is taken
	mime     string // "": JSON
	nobody   bool   // it has no token but what header says
	statuses []int
	location string // of an error; "": any
}

// fire sends a shot from an address of its own and checks the answer.
func (w *walker) fire(t *testing.T, s shot) *httptest.ResponseRecorder {
	t.Helper()
	if s.path == "" {
		s.path = w.fill(s.op.path)
	}
	if s.query == nil {
		s.query = w.query(s.op)
	}
	if s.body == nil && s.op.RequestBody != nil && !s.op.raw() {
		s.body = encode(t, w.body(s.op))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	target := s.path
	if len(s.query) > 0 {
		target += "?" + s.query.Encode()
	}
	req := httptest.NewRequestWithContext(ctx, s.op.method, target, bytes.NewReader(s.body))
	if s.header != nil {
		req.Header = s.header
	}
	if req.Header.Get("Content-Type") == "" && s.op.RequestBody != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.mime != "" {
		req.Header.Set("Content-Type", s.mime)
	}
	if req.Header.Get("Authorization") == "" && !s.nobody {
		req.Header.Set("Authorization", "Bearer "+w.token)
	}
	n := w.peers.Add(1)
	req.Header.Set("X-Forwarded-For", netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}).String())
	out := httptest.NewRecorder()
	if s.op.streams() {
		w.ServeHTTP(glance{out, cancel}, req)
	} else {
		w.ServeHTTP(out, req)
	}
	w.answers.keep(req, out)
	s.check(t, out)
	return out
}

// glance ends a stream once something has come of it.
type glance struct {
	*httptest.ResponseRecorder
	end func()
}

func (g glance) Flush() {
	g.ResponseRecorder.Flush()
	g.end()
}

func (s shot) check(t *testing.T, a *httptest.ResponseRecorder) {
	t.Helper()
	about := fmt.Sprintf("%s: %s %s?%s %.300s\n%d %s", s.why, s.op.method, s.path, s.query.Encode(), s.body, a.Code, a.Body.String())
	require.Less(t, a.Code, 500, about)
	require.NotEmpty(t, a.Header().Get("X-Request-Id"), about)
	if a.Code != http.StatusMethodNotAllowed {
		require.Contains(t, s.op.Responses, fmt.Sprint(a.Code), "not in the document: "+about)
	}
	if len(s.statuses) > 0 {
		require.Contains(t, s.statuses, a.Code, about)
	}
	if a.Code < 400 {
		return
	}
	if s.op.path == "/service-mcp/execute" && a.Header().Get("Content-Type") == "application/json" {
		s.checkOutcome(t, a, about)
		return
	}
	require.NotContains(t, a.Body.String(), canary, about)
	require.Equal(t, "application/problem+json", a.Header().Get("Content-Type"), about)
	var p server.Problem
	require.NoError(t, json.Unmarshal(a.Body.Bytes(), &p), about)
	require.Equal(t, a.Code, p.Status, about)
	require.NotNil(t, p.Errors, about)
	if a.Code == 422 && p.Code == "validation" {
		require.NotEmpty(t, p.Errors, about)
		for _, e := range p.Errors {
			require.Regexp(t, `^(body|query|path|header)(\.|$|\[)`, e.Location, about)
			require.NotEmpty(t, e.Message, about)
		}
	}
	if s.location != "" {
		require.True(t, slices.ContainsFunc(p.Errors, func(e server.FieldError) bool {
			return e.Location == s.location || strings.HasPrefix(e.Location, s.location+".") || strings.HasPrefix(e.Location, s.location+"[")
		}), "%s must be named: %s", s.location, about)
	}
}

// checkOutcome is check for a call of a function, which fails in the shape in
// which it succeeds. It repeats nothing but the function's name.
func (s shot) checkOutcome(t *testing.T, a *httptest.ResponseRecorder, about string) {
	t.Helper()
	var o mcp.Outcome
	require.NoError(t, json.Unmarshal(a.Body.Bytes(), &o), about)
	require.False(t, o.Success, about)
	require.NotNil(t, o.Error, about)
	require.Equal(t, a.Code, o.Status(), about)
	require.NotContains(t, fmt.Sprint(o.Error), canary, about)
	if s.location != "" {
		require.Equal(t, "body.arguments", s.location, about)
		require.NotEmpty(t, o.Error.Details, about)
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

// fill puts valid values into a path.
func (w *walker) fill(path string) string {
	for name, v := range w.values {
		path = strings.ReplaceAll(path, "{"+name+"}", fmt.Sprint(v))
	}
	return path
}

// query has the required parameters of an operation.
func (w *walker) query(op documented) url.Values {
	q := url.Values{}
	for _, p := range op.Parameters {
		if p.In == "query" && p.Required {
			q.Set(p.Name, fmt.Sprint(w.example(p.Name, p.Schema)))
		}
		if p.Name == "wait" { // nobody works here
			q.Set(p.Name, "0")
		}
	}
	return q
}

// body has the required members of an operation's body.
func (w *walker) body(op documented) any {
	return w.example("", op.RequestBody.Content["application/json"].Schema)
}

func (w *walker) resolve(s *schema) *schema {
	for s != nil && s.Ref != "" {
		s = w.schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	return s
}

// example is a valid value of a schema.
func (w *walker) example(name string, s *schema) any {
	if v, ok := w.values[name]; ok {
		return v
	}
	s = w.resolve(s)
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.OneOf) > 0:
		for _, one := range s.OneOf {
			if strings.HasSuffix(one.Ref, "Text") {
				return w.example(name, one)
			}
		}
		return w.example(name, s.OneOf[0])
	case s.is("object"):
		out := map[string]any{}
		for _, member := range s.Required {
			out[member] = w.example(member, s.Properties[member])
		}
		return out
	case s.is("array"):
		out := make([]any, s.MinItems)
		for i := range out {
			out[i] = w.example("", s.Items)
		}
		return out
	case s.is("integer"), s.is("number"):
		return 1
	case s.is("boolean"):
		return true
	}
	return "x"
}

func (s *schema) is(kind string) bool {
	kinds, _ := s.Type.([]any)
	return s.Type == kind || slices.Contains(kinds, any(kind))
}

// members are those of a body that is an object, whichever of its kinds.
func (w *walker) members(s *schema) map[string]*schema {
	s = w.resolve(s)
	out := maps.Clone(s.Properties)
	for _, one := range s.OneOf {
		if strings.HasSuffix(one.Ref, "Text") {
			out = maps.Clone(w.resolve(one).Properties)
		}
	}
	return out
}

// stored counts the rows of every table of ours, so that what was refused can
// be seen to have left nothing.
func stored(t *testing.T, db *sqlx.DB) map[string]int {
	t.Helper()
	q := `SELECT name FROM sqlite_master WHERE type = 'table'`
	if db.DriverName() == "postgres" {
		q = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`
	}
	var tables []string
	require.NoError(t, db.SelectContext(t.Context(), &tables, q))
	out := map[string]int{}
	for _, name := range tables {
		if strings.HasPrefix(name, "messaging_") || strings.HasPrefix(name, "webhook_") && !strings.HasSuffix(name, "_node") || name == "auth_user" {
			var n int
			require.NoError(t, db.GetContext(t.Context(), &n, `SELECT count(*) FROM `+name))
			out[name] = n
		}
	}
	require.Greater(t, len(out), 5)
	return out
}
