package protocol_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/protocol"
)

const (
	metaRevision     = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	metaCapabilities = `"io.modelcontextprotocol/clientCapabilities":{"roots":{"listChanged":true},"sampling":{}}`
	metaNewest       = metaRevision + `,` + metaCapabilities
)

// directPair is a handler, and one whose calls all pass through the SDK.
type directPair struct{ direct, through http.Handler }

func newDirectPair(t testing.TB) directPair {
	t.Helper()
	s := newShop(t, &mcp.Options{Limit: -1, AccountLimit: -1, NoAudit: true})
	registerFixtures(t, s.Registry)
	s.opts.BaseURL, s.opts.Authenticate = "http://chat.example.com", authenticate
	direct, err := protocol.New(s.Registry, &s.opts)
	require.NoError(t, err)
	s.opts.Extend = func(*sdk.Server) {}
	through, err := protocol.New(s.Registry, &s.opts)
	require.NoError(t, err)
	return directPair{direct, through}
}

// requireSame posts a body to both handlers, requires the same answer, and reports
// whether the first was direct: the SDK flushes its answers to calls.
func (p directPair) requireSame(t *testing.T, token, revision, body string, change func(*http.Request)) (direct bool) {
	t.Helper()
	answer := func(h http.Handler) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://chat.example.com"+protocol.Path, strings.NewReader(body))
		r.Header = http.Header{
			"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {revision}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"order_state"},
		}
		if change != nil {
			change(r)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	got, want := answer(p.direct), answer(p.through)
	require.Equal(t, want.Code, got.Code, "%s", got.Body)
	require.Equal(t, want.Body.String(), got.Body.String())
	require.Equal(t, want.Header(), got.Header())
	return want.Flushed && !got.Flushed
}

// TestDirectCall_AnswersAsSDK checks which calls the handler answers itself, and that
// a client cannot tell.
func TestDirectCall_AnswersAsSDK(t *testing.T) {
	t.Parallel()
	p := newDirectPair(t)
	const order = `"name":"order_state","arguments":{"reference":7,"id":"ana <&> \u2028"}`
	wrap := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + params + `}}`
	}
	for name, tc := range map[string]struct {
		body     string
		revision string // "": each one that has no metadata
		token    string // "": everything
		change   func(*http.Request)
		through  bool
	}{
		"a call":                        {body: wrap(order)},
		"with spaces":                   {body: " \n" + strings.ReplaceAll(wrap(order), ":", " :\t")},
		"the identifier is a text":      {body: strings.Replace(wrap(order), `"id":1`, `"id":"a\u00e9<\ud83d\ude00"`, 1)},
		"the identifier is a fraction":  {body: strings.Replace(wrap(order), `"id":1`, `"id":-1.5`, 1)},
		"the identifier is null":        {body: strings.Replace(wrap(order), `"id":1`, `"id":null`, 1), through: true},
		"the identifier is an object":   {body: strings.Replace(wrap(order), `"id":1`, `"id":{}`, 1), through: true},
		"a notification":                {body: strings.Replace(wrap(order), `"id":1,`, ``, 1), through: true},
		"the member has another case":   {body: strings.Replace(wrap(order), `"name"`, `"Name"`, 1), through: true},
		"an unknown member":             {body: wrap(order + `,"requestState":"x"`), through: true},
		"an unknown member, outside":    {body: strings.Replace(wrap(order), `"id":1`, `"id":1,"result":{}`, 1), through: true},
		"another version of JSON-RPC":   {body: strings.Replace(wrap(order), `2.0`, `1.0`, 1), through: true},
		"no arguments":                  {body: wrap(`"name":"counts"`)},
		"arguments are null":            {body: wrap(`"name":"counts","arguments":null`)},
		"arguments are no object":       {body: wrap(`"name":"counts","arguments":[1]`)},
		"arguments are wrong":           {body: wrap(`"name":"order_state","arguments":{"reference":"7"}`)},
		"the function fails":            {body: wrap(`"name":"order_state","arguments":{"reference":7,"id":"nobody"}`)},
		"the function panics":           {body: wrap(`"name":"panics"`)},
		"the function is late":          {body: wrap(`"name":"late"`)},
		"the function is unknown":       {body: wrap(`"name":"no_such"`), through: true},
		"the caller may not":            {body: wrap(`"name":"cancel_order"`), token: reader},
		"the caller may nothing":        {body: wrap(order), token: "may-nothing"},
		"asks for progress":             {body: wrap(`"name":"counts","_meta":{"progressToken":1}`), through: true},
		"metadata are null":             {body: wrap(order + `,"_meta":null`)},
		"metadata are a list":           {body: wrap(order + `,"_meta":[]`), through: true},
		"unknown metadata":              {body: wrap(order + `,"_meta":{"traceparent":"x"}`)},
		"metadata of another revision":  {body: wrap(order + `,"_meta":{` + metaNewest + `}`), through: true},
		"JSON is cut off":               {body: wrap(order)[:90], through: true},
		"something follows":             {body: wrap(order) + "{}", through: true},
		"another method":                {body: listTools, through: true},
		"another order in Accept":       {body: wrap(order), change: header("Accept", "text/event-stream, application/json"), through: true},
		"accepts no stream":             {body: wrap(order), change: header("Accept", "application/json"), through: true},
		"a charset":                     {body: wrap(order), change: header("Content-Type", "application/json; charset=utf-8"), through: true},
		"a stream is continued":         {body: wrap(order), change: header("Last-Event-ID", "1_1"), through: true},
		"no revision":                   {body: wrap(order), change: func(r *http.Request) { r.Header.Del("Mcp-Protocol-Version") }, through: true},
		"nested too deeply":             {body: wrap(`"name":"counts","arguments":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001)), through: true},
		"a header for an argument":      {body: wrap(`"name":"test_x_mcp_header","arguments":{"region":"x"}`), through: true},
		"newest":                        {revision: newest, body: wrap(order + `,"_meta":{` + metaNewest + `}`)},
		"newest, the client has a name": {revision: newest, body: wrap(order + `,"_meta":{` + metaNewest + `,"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}}`)},
		"newest, a log level":           {revision: newest, body: wrap(order + `,"_meta":{` + metaNewest + `,"io.modelcontextprotocol/logLevel":7}`)},
		"newest, the function fails":    {revision: newest, body: wrap(`"name":"order_state","_meta":{` + metaNewest + `}`)},
		"newest, asks for progress":     {revision: newest, body: wrap(order + `,"_meta":{"progressToken":"p",` + metaNewest + `}`), through: true},
		"newest, a wrong client":        {revision: newest, body: wrap(order + `,"_meta":{` + metaNewest + `,"io.modelcontextprotocol/clientInfo":null}`), through: true},
		"newest, no capabilities":       {revision: newest, body: wrap(order + `,"_meta":{` + metaRevision + `}`), through: true},
		"newest, null capabilities":     {revision: newest, body: wrap(order + `,"_meta":{` + metaRevision + `,"io.modelcontextprotocol/clientCapabilities":null}`), through: true},
		"newest, wrong capabilities":    {revision: newest, body: wrap(order + `,"_meta":{` + metaRevision + `,"io.modelcontextprotocol/clientCapabilities":{"roots":7}}`), through: true},
		"newest, another revision":      {revision: newest, body: strings.Replace(wrap(order+`,"_meta":{`+metaNewest+`}`), newest, "2025-11-25", 1), through: true},
		"newest, no metadata":           {revision: newest, body: wrap(order), through: true},
		"newest, another name":          {revision: newest, body: wrap(order + `,"_meta":{` + metaNewest + `}`), change: header("Mcp-Name", "counts"), through: true},
		"newest, another method":        {revision: newest, body: wrap(order + `,"_meta":{` + metaNewest + `}`), change: header("Mcp-Method", "tools/list"), through: true},
		"a newer one":                   {revision: "2099-01-01", body: wrap(order + `,"_meta":{` + strings.Replace(metaNewest, newest, "2099-01-01", 1) + `}`), through: true},
		"an older one":                  {revision: "2024-11-05", body: wrap(order), through: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			revisions := []string{tc.revision}
			if tc.revision == "" {
				revisions = []string{"2025-03-26", "2025-06-18", "2025-11-25"}
			}
			if tc.token == "" {
				tc.token = everything
			}
			for _, revision := range revisions {
				require.Equal(t, !tc.through, p.requireSame(t, tc.token, revision, tc.body, tc.change), revision)
			}
		})
	}
}

// FuzzDirectCall changes bodies that the handler answers itself. The answer must stay
// that of the SDK.
func FuzzDirectCall(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"order_state","arguments":{"reference":7,"id":"ana"}}}`,
		`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"order_state","arguments":{},"_meta":{` + metaNewest + `}}}`,
		`{"id":0,"jsonrpc":"2.0","params":{"_meta":{"a":[]},"name":"find_orders","arguments":{"text":"é"}},"method":"tools/call"}`,
	} {
		f.Add(body)
	}
	p := newDirectPair(f)
	f.Fuzz(func(t *testing.T, body string) {
		if strings.Contains(body, "waits") || strings.Contains(body, `\u`) || strings.Count(body, "_meta") > 1 {
			return // a function that waits, names in disguise, and metadata that the SDK merges
		}
		for _, revision := range []string{"2025-03-26", newest} {
			p.requireSame(t, everything, revision, body, nil)
		}
	})
}

// TestSDKPatch checks that the SDK still is as the patch in the documentation expects.
// If it is not, measure whether direct calls are worth their code.
func TestSDKPatch(t *testing.T) {
	t.Parallel()
	blocks, err := testkit.Blocks("../../docs/dependencies.md")
	require.NoError(t, err)
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/modelcontextprotocol/go-sdk").Output()
	require.NoError(t, err)
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "internal", "json", "json.go"))
	require.NoError(t, err)
	hunks := strings.Split(blocks["sdk-patch"], "\n@@")[1:]
	require.Len(t, hunks, 2)
	for _, hunk := range hunks {
		var before strings.Builder
		for line := range strings.Lines(hunk[strings.Index(hunk, "\n")+1:]) {
			if !strings.HasPrefix(line, "+") {
				before.WriteString(line[1:])
			}
		}
		require.Contains(t, string(source), before.String())
	}
}
