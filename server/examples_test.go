package server_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testkit/contract"
)

var record = flag.Bool("examples", false, "write examples.json of what the tests ask and are answered")

const examplesFile = "internal/openapi/examples.json"

// TestMain has names looked up here and nothing but loopback dialled. It writes
// examples.json after the tests, if that is asked for.
func TestMain(m *testing.M) {
	flag.Parse()
	names = testkit.ServeNames()
	guard.Wall(outside.see)
	code := m.Run()
	if *record {
		if err := recorded.write(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// exchange is a line of examples.json.
type exchange struct {
	Path     map[string]string `json:"path,omitempty"`
	Query    map[string]string `json:"query,omitempty"`
	Request  json.RawMessage   `json:"request,omitempty"`
	Response json.RawMessage   `json:"response,omitempty"`
	score    int
}

// recorder keeps of every operation and status the exchange that shows most.
type recorder struct {
	mu   sync.Mutex
	best map[string]map[string]exchange
}

var recorded = recorder{best: map[string]map[string]exchange{}}

func (r *recorder) keep(e contract.Exchange) {
	kind := e.Header.Get("Content-Type")
	if !*record || e.Status >= 300 && kind != "application/json" || e.Cut || promised.doc.Check(e) != nil {
		return
	}
	if e.RequestType != "application/json" { // a form
		e.Request = nil
	}
	x := exchange{Path: pathValues(e), Query: map[string]string{}, Request: shortened(e.Request), Response: shortened(e.Response)}
	for name, values := range e.URL.Query() {
		x.Query[name] = sanitized(values[0])
	}
	if x.Request == nil && len(e.Request) > 0 || x.Response == nil && len(e.Response) > 0 {
		return
	}
	text := fmt.Sprint(x.Path, x.Query, string(x.Request), string(x.Response))
	if strings.ContainsFunc(text, func(c rune) bool { return c > unicode.MaxLatin1 && c != '•' || c == '\x00' }) || strings.Contains(text, canary) || strings.Contains(text, "canary") {
		return
	}
	x.score = members(x.Request) + members(x.Response) + len(x.Query)
	if over := len(text) - 2500; over > 0 {
		x.score -= over / 10
	}
	if strings.Contains(string(x.Request), `"type":"text"`) {
		x.score += 1000 // of messages what everybody sends first
	}
	status := fmt.Sprint(e.Status)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.best[e.Operation] == nil {
		r.best[e.Operation] = map[string]exchange{}
	}
	if was, ok := r.best[e.Operation][status]; !ok || was.score < x.score {
		r.best[e.Operation][status] = x
	}
}

// write keeps the examples that the file has, as long as they fit.
func (r *recorder) write() error {
	have := map[string]map[string]exchange{}
	if b, err := os.ReadFile(examplesFile); err == nil {
		if err := json.Unmarshal(b, &have); err != nil {
			return fmt.Errorf("reading %s: %w", examplesFile, err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, statuses := range have {
		for status, x := range statuses {
			if r.best[id] == nil {
				r.best[id] = map[string]exchange{}
			}
			if promised.doc.CheckExample(id, status, x.Request, x.Response) == nil {
				r.best[id][status] = x
			}
		}
	}
	b, err := json.MarshalIndent(r.best, "", " ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", examplesFile, err)
	}
	return os.WriteFile(examplesFile, append(b, '\n'), 0o600)
}

// pathValues are the parameters of a path.
func pathValues(e contract.Exchange) map[string]string {
	names, values, out := strings.Split(e.Path, "/"), strings.Split(e.URL.Path, "/"), map[string]string{}
	for i, n := range names {
		if strings.HasPrefix(n, "{") {
			out[strings.Trim(n, "{}")] = values[i]
		}
	}
	return out
}

// disguises are what a reader of examples should not see, or could not use.
var disguises = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]+`), "eyJhbGciOi..."},
	{regexp.MustCompile(`whsec_[\w+/=]+`), "whsec_..."},
	{regexp.MustCompile(`"token": ?"[\w-]{43}"`), `"token":"_0Foh..."`},
	{regexp.MustCompile(`^([\w-]{8})[\w-]{35}$`), "$1..."},
	{regexp.MustCompile(`https?://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?`), "https://example.org"},
}

func sanitized(text string) string {
	for _, d := range disguises {
		text = d.what.ReplaceAllString(text, d.by)
	}
	return text
}

// shortened is JSON with at most two items of each list; nil: it is no JSON, or
// has texts that are not for reading.
func shortened(raw []byte) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	ok := true
	v = shorten(v, &ok)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if !ok || enc.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

func shorten(v any, ok *bool) any {
	switch v := v.(type) {
	case string:
		*ok = *ok && len(v) < 400
		return sanitized(v)
	case []any:
		v = v[:min(len(v), 2)]
		for i := range v {
			v[i] = shorten(v[i], ok)
		}
		return v
	case map[string]any:
		for name := range v {
			v[name] = shorten(v[name], ok)
		}
	}
	return v
}

// members counts the members of JSON that say something.
func members(raw json.RawMessage) int {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return 0
	}
	return saying(v)
}

func saying(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for _, m := range v {
			n += saying(m)
		}
		return n
	case []any:
		if len(v) > 0 {
			return saying(v[0])
		}
		return 0
	case nil:
		return 0
	case string:
		return min(len(v), 1)
	}
	return 1
}

// TestPlainRequests asks for what other tests ask only in ways that are not for
// showing.
func TestPlainRequests(t *testing.T) {
	t.Parallel()
	ana := working(t, setup(t, nil)).as(t, "ana")
	ref := ana.sandbox(t)
	ana.write(t, ref, "ana", "Hello")
	ana.send(t, ref, "Welcome to the shop!")
	project, publish := ana.project(t)
	flow := publish(`{"format":"trunkline-flow/1","kind":"flow","slug":"welcome","name":"Welcome","start":"begin","nodes":{` +
		`"begin":{"type":"trigger","config":{"on":[{"kind":"keyword","keywords":["hi"]}]},"next":{"out":"greet"}},` +
		`"greet":{"type":"message","config":{"text":"Hello!"}}}}`)
	at := "/aiflow/flow/" + flow
	ana.call(t, "PUT", at+"/bind", fmt.Sprintf(`{"reference":%d,"enabled":true}`, ref)).json(200)
	ana.call(t, "GET", at+"/bind", "").json(200)
	ana.call(t, "POST", at+"/validate", "{}").json(200)
	ana.call(t, "POST", at+"/rename", `{"slug":"greeting"}`).json(200)
	ana.call(t, "GET", "/aiflow/project/"+project, "").json(200)
	ana.call(t, "POST", "/aiflow/credential", `{"name":"Shop","kind":"bearer","secret":"a token of the shop","hosts":["shop.example.org"]}`).json(201)
}

// TestExamples has every operation show what it was asked and what it
// answered, in JSON that fits.
func TestExamples(t *testing.T) {
	t.Parallel()
	setup(t, nil)
	b, err := os.ReadFile(examplesFile)
	require.NoError(t, err)
	var have map[string]map[string]exchange
	require.NoError(t, json.Unmarshal(b, &have))
	for id, statuses := range have {
		for status, x := range statuses {
			require.NoError(t, promised.doc.CheckExample(id, status, x.Request, x.Response), "%s %s: see -examples", id, status)
		}
	}
	for _, missing := range promised.doc.WithoutExample() {
		require.Fail(t, "an example is missing, see -examples", missing)
	}
}

// TestExamplesHoldNoTokens looks for what may be a token of somebody.
func TestExamplesHoldNoTokens(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(examplesFile)
	require.NoError(t, err)
	require.NotRegexp(t, `"[\w-]{43}"|eyJ[\w-]+\.[\w-]+\.|whsec_\w`, string(text))
}
