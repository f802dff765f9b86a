package server_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// eachWalk runs fn with a walker on each database. In the end the log must show
// no error, and at no level what was refused: that may be a secret.
func eachWalk(t *testing.T, fn func(t *testing.T, w *walker)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		log := &logBuffer{}
		f := setupOn(t, db, func(c *server.Config) {
			c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
			c.Logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		f.log = log
		w := walk(t, f)
		w.db = db
		fn(t, w)
		for line := range strings.Lines(f.log.String()) {
			require.NotContains(t, line, `"level":"ERROR"`)
			require.NotContains(t, line, canary)
		}
	})
}

// TestRefusedByEveryOperation sends requests that nobody may take, each made
// from the document, so that a new operation is covered by itself.
func TestRefusedByEveryOperation(t *testing.T) {
	t.Parallel()
	eachWalk(t, func(t *testing.T, w *walker) {
		before := stored(t, w.db)
		for _, op := range w.ops {
			if op.raw() {
				continue
			}
			w.refuseQueries(t, op)
			w.refusePaths(t, op)
			w.refuseHeaders(t, op)
			if op.RequestBody != nil {
				w.refuseBodies(t, op)
				w.refuseMembers(t, op)
			}
		}
		require.Equal(t, before, stored(t, w.db), "what is refused leaves nothing")
	})
}

func with(q url.Values, name, value string) url.Values {
	out := url.Values{}
	for k, v := range q {
		out[k] = v
	}
	out.Set(name, value)
	return out
}

// isPosition says that a parameter takes what a list or stream gave out.
func isPosition(name string) bool {
	return slices.Contains([]string{"cursor", "before", "after"}, name)
}

func (w *walker) refuseQueries(t *testing.T, op documented) {
	t.Helper()
	q := w.query(op)
	w.fire(t, shot{why: "unknown parameter", op: op, query: with(q, "nonsense", canary), statuses: []int{422}, location: "query.nonsense"})
	for _, p := range op.Parameters {
		if p.In != "query" {
			continue
		}
		at := "query." + p.Name
		w.fire(t, shot{why: "other case", op: op, query: with(q, strings.ToUpper(p.Name), "1"), statuses: []int{422}})
		if p.Required {
			without := with(q, "x", "")
			delete(without, "x")
			delete(without, p.Name)
			w.fire(t, shot{why: "missing parameter", op: op, query: without, statuses: []int{422}, location: at})
			w.fire(t, shot{why: "empty parameter", op: op, query: with(q, p.Name, ""), statuses: []int{422}, location: at})
		}
		var bad []string
		switch {
		case p.Schema.is("integer"):
			bad = []string{canary, "1.5", "1e3", "0x1", "٣", "\x00", "\xff", "-" + strings.Repeat("9", 40), " 1"}
			if p.Name != "limit" { // which is lowered to its maximum
				bad = append(bad, strings.Repeat("9", 40))
			}
			if p.Schema.Minimum != nil {
				bad = append(bad, fmt.Sprint(int(*p.Schema.Minimum)-1), "-9223372036854775808")
			}
			if p.Schema.Maximum != nil {
				bad = append(bad, fmt.Sprint(int(*p.Schema.Maximum)+1), "9223372036854775807")
			}
		case isPosition(p.Name):
			bad = []string{canary, "\x00", "\xff", "AAAA", "====", strings.Repeat("A", 200)}
		}
		if p.Schema.MaxLength > 0 {
			bad = append(bad, strings.Repeat("x", p.Schema.MaxLength+1))
		}
		for _, v := range bad {
			w.fire(t, shot{why: "bad parameter", op: op, query: with(q, p.Name, v), statuses: []int{422}, location: at})
		}
	}
}

var parameterInPath = regexp.MustCompile(`\{([^}]+)\}`)

func (w *walker) refusePaths(t *testing.T, op documented) {
	t.Helper()
	if !strings.Contains(op.path, "{") {
		return
	}
	for _, id := range []string{
		"0", "-1", "999999999", "9223372036854775807", strings.Repeat("9", 30), canary, "%00", "%FF", "1.0", "1e1", "0x1", "%20", "'", "%27--",
		"01890a5d-ac96-774b-bcce-b302099a8057", strings.Repeat("x", 300), "%F0%9F%91%8B", "a%2Fb",
	} {
		path := parameterInPath.ReplaceAllString(op.path, id)
		w.fire(t, shot{why: "bad id", op: op, path: path, statuses: []int{404, 405, 422}})
	}
}

func (w *walker) refuseHeaders(t *testing.T, op documented) {
	t.Helper()
	if len(op.Security) > 0 {
		for _, value := range []string{canary, "Bearer", "Bearer " + canary, "Basic " + w.token, "bearer  ", strings.Repeat("x", 10_000), "Bearer " + w.token + "x", "Bearer\t" + w.token} {
			w.fire(t, shot{why: "bad token", op: op, header: http.Header{"Authorization": {value}}, statuses: []int{401}})
		}
		for _, two := range [][]string{{"Bearer " + canary, "Bearer " + w.token}, {"Bearer " + w.token, "Bearer " + canary}} {
			w.fire(t, shot{why: "two tokens", op: op, header: http.Header{"Authorization": two}, statuses: []int{401}})
		}
	}
	for _, p := range op.Parameters {
		if p.In == "header" && p.Schema.MaxLength > 0 {
			w.fire(t, shot{
				why: "long header", op: op, header: http.Header{http.CanonicalHeaderKey(p.Name): {strings.Repeat("x", p.Schema.MaxLength+1)}},
				statuses: []int{422}, location: "header." + p.Name,
			})
		}
	}
}

func (w *walker) refuseBodies(t *testing.T, op documented) {
	t.Helper()
	valid := encode(t, w.body(op))
	for why, body := range map[string]string{
		"no JSON": canary, "cut off": string(valid[:len(valid)-1]), "two values": string(valid) + string(valid), "empty": "", "spaces": "  ",
		"single quotes": `{'a':1}`, "comment": `{/*a*/}`, "trailing comma": `{"a":1,}`, "no number": `{"a":01}`, "NUL": "{\x00}",
		"BOM": "\xef\xbb\xbf" + string(valid), "too deep": strings.Repeat(`{"a":`, 11_000) + "1" + strings.Repeat("}", 11_000), "huge number": `{"a":1e999}`,
	} {
		if strings.TrimSpace(body) == "" && !op.RequestBody.Required {
			continue
		}
		w.fire(t, shot{why: why, op: op, body: []byte(body), statuses: []int{400}})
	}
	for _, body := range []string{`[]`, `7`, `"` + canary + `"`, `true`, `null`, `[` + string(valid) + `]`} {
		w.fire(t, shot{why: "no object", op: op, body: []byte(body), statuses: []int{422}, location: "body"})
	}
	for _, mime := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", canary, "application/jsonx"} {
		w.fire(t, shot{why: "content type", op: op, mime: mime, statuses: []int{415}})
	}
	a := w.fire(t, shot{why: "too large", op: op, body: append(valid, bytes.Repeat([]byte(" "), op.bound()<<20-len(valid)+1)...), statuses: []int{413}})
	require.Contains(t, a.Body.String(), fmt.Sprintf("%d MiB", op.bound()))
}

func (w *walker) refuseMembers(t *testing.T, op documented) {
	t.Helper()
	valid, _ := w.body(op).(map[string]any)
	body := func(name string, value any) []byte {
		b := map[string]any{}
		for k, v := range valid {
			b[k] = v
		}
		if b[name] = value; value == nil {
			delete(b, name)
		}
		return encode(t, b)
	}
	w.fire(t, shot{why: "unknown member", op: op, body: body("nonsense", canary), statuses: []int{422}, location: "body.nonsense"})
	for name := range valid {
		w.fire(t, shot{why: "missing member", op: op, body: body(name, nil), statuses: []int{422}, location: "body." + name})
		w.fire(t, shot{why: "null member", op: op, body: bytes.Replace(body(name, "<null>"), []byte(`"\u003cnull\u003e"`), []byte("null"), 1), statuses: []int{422}, location: "body"})
	}
	for name, s := range w.members(op.RequestBody.Content["application/json"].Schema) {
		for _, value := range w.unfit(s) {
			w.fire(t, shot{why: "bad member", op: op, body: body(name, value), statuses: []int{422}, location: "body." + name})
		}
	}
}

// unfit are values that do not fit a schema.
func (w *walker) unfit(s *schema) []any {
	s = w.resolve(s)
	huge := 1e30
	switch {
	case s.is("integer"):
		below := -1.0
		if s.Minimum != nil {
			below = min(below, *s.Minimum-1)
		}
		return []any{canary, 1.5, []any{}, map[string]any{}, true, huge, -huge, below}
	case s.is("string"):
		out := []any{7, true, []any{canary}, map[string]any{"a": canary}}
		if s.MaxLength > 0 {
			out = append(out, strings.Repeat("x", s.MaxLength+1))
		}
		if len(s.Enum) > 0 {
			out = append(out, canary)
		}
		return out
	case s.is("boolean"):
		return []any{canary, 7, []any{}}
	case s.is("array"):
		out := []any{canary, 7, map[string]any{}}
		if s.MaxItems > 0 {
			out = append(out, slices.Repeat([]any{canary}, s.MaxItems+1))
		}
		if s.Items != nil {
			for _, bad := range w.unfit(s.Items) {
				out = append(out, []any{bad})
			}
		}
		return out
	case s.is("object"):
		return []any{canary, 7, []any{}}
	case len(s.OneOf) > 0:
		return []any{[]any{}, 1.5, canary}
	}
	return nil
}

// TestHostileValues sends what may be valid, and must do no harm.
func TestHostileValues(t *testing.T) {
	t.Parallel()
	eachWalk(t, func(t *testing.T, w *walker) {
		texts := []string{
			"\x00", "a\x00b", "\xff\xfe", "\ud7ff\U0010ffff", "'; DROP TABLE messaging_message; --", "%s%n", "../../etc/passwd", "<script>", "\r\nX: y",
			"{{7*7}}", "9223372036854775807", "-9223372036854775808", strings.Repeat("é", 100), "\u202e\u200b", "NULL", "-1", "1e400", "\\", "%",
		}
		for _, op := range w.ops {
			for _, p := range op.Parameters {
				for _, text := range texts {
					switch p.In {
					case "query":
						w.fire(t, shot{why: "hostile parameter", op: op, query: with(w.query(op), p.Name, text)})
					case "header":
						w.fire(t, shot{why: "hostile header", op: op, header: http.Header{http.CanonicalHeaderKey(p.Name): {text}}})
					}
				}
				if p.In == "query" {
					twice := with(w.query(op), p.Name, fmt.Sprint(w.example(p.Name, p.Schema)))
					twice.Add(p.Name, canary)
					w.fire(t, shot{why: "parameter twice", op: op, query: twice})
				}
			}
			w.hostileMembers(t, op, texts)
		}
	})
}

// hostileMembers puts texts into every string of a body, in clear and, where
// JSON cannot hold them, as raw bytes.
func (w *walker) hostileMembers(t *testing.T, op documented, texts []string) {
	t.Helper()
	if op.RequestBody == nil || op.raw() {
		return
	}
	valid, ok := w.body(op).(map[string]any)
	if !ok {
		return
	}
	for name, s := range w.members(op.RequestBody.Content["application/json"].Schema) {
		for _, text := range texts {
			var value any = "<here>"
			switch s := w.resolve(s); {
			case s.is("array") && s.Items != nil && w.resolve(s.Items).is("string"):
				value = []any{value}
			case s.is("array"):
				value = []any{map[string]any{"key": value, "value": value}}
			case s.is("object"), name == "message":
				value = map[string]any{"type": "text", "text": value, "a": map[string]any{"b": value}}
				if name == "message" {
					value = map[string]any{"type": "text", "text": "<here>"}
				}
			case !s.is("string") && len(s.OneOf) == 0:
				continue
			}
			b := map[string]any{}
			for k, v := range valid {
				b[k] = v
			}
			b[name] = value
			marked := encode(t, b)
			for _, form := range []string{string(encode(t, text)), `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r\n", `\r\n`).Replace(text) + `"`} {
				body := bytes.ReplaceAll(marked, []byte(`"\u003chere\u003e"`), []byte(form))
				w.fire(t, shot{why: "hostile member", op: op, body: body})
			}
		}
	}
}

// TestOtherMethods are refused with those that a path has.
func TestOtherMethods(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	w := walk(t, f)
	allowed := map[string][]string{}
	for _, op := range w.ops {
		path := w.fill(op.path)
		for _, other := range w.ops {
			if other.path != path && slices.ContainsFunc(w.ops, func(o documented) bool { return o.path == path }) {
				continue // a literal path is no other's
			}
			pattern := "^" + parameterInPath.ReplaceAllString(other.path, "[^/]+") + "$"
			if regexp.MustCompile(pattern).MatchString(path) && !slices.Contains(allowed[path], other.method) {
				allowed[path] = append(allowed[path], other.method)
			}
		}
	}
	require.Greater(t, len(allowed), 10)
	for path, methods := range allowed {
		if slices.Contains(methods, "GET") {
			methods = append(methods, "HEAD")
		}
		for _, m := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			if slices.Contains(methods, m) {
				continue
			}
			a := f.do(t, m, path, "")
			require.Equal(t, 405, a.Code, "%s %s", m, path)
			if m != "HEAD" {
				a.problem(405, "method_not_allowed")
			}
			require.ElementsMatch(t, methods, a.Header().Values("Allow"), "%s %s", m, path)
		}
	}
}
