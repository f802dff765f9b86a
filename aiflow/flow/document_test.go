package flow_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/internal/jsonscan"
)

// one returns a flow of a trigger and one node after it.
func one(node string) string {
	return document(`"t": {"type": "trigger", "next": {"out": "n"}}, "n": ` + node)
}

func document(nodes string) string {
	return `{"format": "trunkline-flow/1", "kind": "flow", "slug": "s", "name": "S", "start": "t", "nodes": {` + nodes + `}}`
}

// lines formats problems for people.
func lines(problems []flow.Problem) []string {
	out := []string{}
	for _, p := range problems {
		line := fmt.Sprintf("%s %s %s", p.Severity, p.Code, p.Path)
		if p.At != nil {
			line += fmt.Sprintf(" @%d", *p.At)
		}
		line += ": " + p.Message
		if p.Hint != "" {
			line += " (" + p.Hint + ")"
		}
		out = append(out, line)
	}
	return out
}

// compile decodes and compiles raw, and checks properties of all problems.
func compile(t testing.TB, types *flow.Types, raw []byte, env *flow.Environment) (*flow.Program, []flow.Problem) {
	t.Helper()
	d, problems := flow.Decode(raw)
	var p *flow.Program
	if d != nil {
		decoded := problems
		p, problems = types.Compile(d, env)
		require.GreaterOrEqual(t, len(problems), len(decoded), "Compile reports what Decode does")
		_, again := types.Compile(d, env)
		require.Equal(t, problems, again)
	}
	require.Equal(t, p == nil, flow.Failed(problems))
	for _, problem := range problems {
		require.NotEmpty(t, problem.Code)
		require.NotEmpty(t, problem.Message)
		require.Contains(t, []string{flow.SeverityError, flow.SeverityWarning}, problem.Severity)
		require.True(t, exists(raw, problem.Path), "%s is not in the document", problem.Path)
		if problem.NodeID != "" {
			require.True(t, strings.HasPrefix(problem.Path, "/nodes/"+escape.Replace(problem.NodeID)), problem.Path)
		}
	}
	return p, problems
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// exists reports whether JSON has a value at a pointer. Of two members with one
// name the first counts.
func exists(raw []byte, pointer string) bool {
	if pointer == "" {
		return true
	}
	for part := range strings.SplitSeq(pointer[1:], "/") {
		if jsonscan.Kind(raw) == '[' {
			i, found := 0, []byte(nil)
			for element := range jsonscan.Elements(raw) {
				if fmt.Sprint(i) == part {
					found = element
				}
				i++
			}
			raw = found
		} else {
			raw = jsonscan.Get(raw, unescape.Replace(part))
		}
		if raw == nil {
			return false
		}
	}
	return true
}

// Each file of testdata/problems is a document, what exists around it, and
// the problems that it has.
func TestProblems(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/problems/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	types := node.NewTypes()
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			var c struct {
				About       string
				Environment *environment
				Document    json.RawMessage
				Problems    []string
			}
			require.NoError(t, json.Unmarshal(raw, &c))
			require.NotEmpty(t, c.About)
			_, problems := compile(t, types, c.Document, c.Environment.make(t))
			if *update {
				rewrite(t, file, raw, lines(problems))
				return
			}
			require.Equal(t, c.Problems, lines(problems))
		})
	}
}

// environment is a flow.Environment as a file has it.
type environment struct {
	flow.Environment
	Functions map[string]json.RawMessage
}

func (e *environment) make(t *testing.T) *flow.Environment {
	if e == nil {
		return nil
	}
	env := e.Environment
	if e.Functions != nil {
		env.Functions = map[string]*flow.Document{}
		for slug, raw := range e.Functions {
			env.Functions[slug] = decode(t, raw)
		}
	}
	return &env
}

// rewrite replaces the member problems, the last one of the file.
func rewrite(t *testing.T, file string, raw []byte, problems []string) {
	t.Helper()
	at := strings.LastIndex(string(raw), `"problems":`)
	require.Positive(t, at, file)
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("  ", "  ")
	require.NoError(t, e.Encode(problems))
	out := string(raw[:at]) + `"problems": ` + strings.TrimSpace(b.String()) + "\n}\n"
	require.NoError(t, os.WriteFile(file, []byte(out), 0o600))
}

func TestProblemAsJSON(t *testing.T) {
	t.Parallel()
	_, problems := flow.Decode([]byte(`{}`))
	raw, err := json.Marshal(problems[0])
	require.NoError(t, err)
	require.JSONEq(t, `{"severity":"error","code":"shape.required","nodeId":"","path":"","at":null,"message":"format is missing","hint":"Always trunkline-flow/1."}`, string(raw))
	raw, err = json.Marshal(flow.Problem{Code: "x"})
	require.NoError(t, err)
	require.Contains(t, string(raw), `"hint":null`)
	var back flow.Problem
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Equal(t, flow.Problem{Code: "x"}, back)
}

func TestDecodeSyntax(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		``:                                     "error shape.syntax : is not JSON: the text ends too early",
		"{\n  \"a\": 1,,}":                     "error shape.syntax : is not JSON: invalid character ',' looking for beginning of object key string at line 2, column 10",
		`{} {}`:                                "error shape.syntax : is not JSON: there is text after the value at line 1, column 2",
		"{\"name\": \"\xff\"}":                 "error shape.syntax : is not JSON: it is not UTF-8",
		`[]`:                                   "error shape.type : must be an object, not a list",
		`{"format": "trunkline-flow/2"}`:       "error format.newer /format: is newer than this version of Trunkline (upgrade Trunkline; the newest format that it reads is trunkline-flow/1)",
		`{"format": "other"}`:                  "error format.unknown /format: is not a format of flows (write trunkline-flow/1)",
		`{"format": 1}`:                        "error format.unknown /format: is not a format of flows (write trunkline-flow/1)",
		`"` + strings.Repeat("x", 3<<20) + `"`: "error shape.size : has 3145730 bytes; at most 2097152 are allowed",
	} {
		d, problems := flow.Decode([]byte(raw))
		require.Nil(t, d)
		require.Equal(t, []string{want}, lines(problems))
	}
}

// Documents that encoding/json accepts but Decode must refuse.
func TestDecodeIsStrict(t *testing.T) {
	t.Parallel()
	types := node.NewTypes()
	for raw, want := range map[string]string{
		document(`"t": {"type": "trigger", "type": "note"}`):                                                                                   "shape.duplicate /nodes/t/type",
		document(`"t": {"type": "trigger", "typ\u0065": "note"}`):                                                                              "shape.duplicate /nodes/t/type",
		document(`"t": {"type": "trigger"}, "t": {"type": "note"}`):                                                                            "shape.duplicate /nodes/t",
		document(`"t": {"type": "trigger", "Next": {}}`):                                                                                       "shape.unknown /nodes/t/Next",
		document(`"t": {"type": "trigger", "config": {"priority": 1e999}}`):                                                                    "shape.number /nodes/t/config/priority",
		document(`"t": {"type": "trigger", "config": {"priority": 1.5}}`):                                                                      "shape.type /nodes/t/config/priority",
		document(`"t": {"type": "trigger", "config": {"priority": "1"}}`):                                                                      "shape.type /nodes/t/config/priority",
		document(`"t": {"type": "trigger", "config": {"priority": null}}`):                                                                     "shape.type /nodes/t/config/priority",
		document(`"t": {"type": "trigger", "config": {"priority": 101}}`):                                                                      "shape.range /nodes/t/config/priority",
		document(`"t": {"type": "trigger", "config": {"cooldown": "1 day"}}`):                                                                  "shape.duration /nodes/t/config/cooldown",
		document(`"t": {"type": "trigger", "config": {"cooldown": "P31D"}}`):                                                                   "shape.range /nodes/t/config/cooldown",
		document(`"t": {"type": "trigger", "config": {"whenBusy": "never"}}`):                                                                  "shape.enum /nodes/t/config/whenBusy",
		document(`"t": {"type": "trigger", "config": {"on": {}}}`):                                                                             "shape.type /nodes/t/config/on",
		document(`"t": {"type": "trigger", "config": []}`):                                                                                     "shape.type /nodes/t/config",
		document(`"t": {"type": "trigger"}, "a/b~c": {"type": "note"}`):                                                                        "shape.pattern /nodes/a~1b~0c",
		document(`"t": {"type": "trigger"}, "x": {"type": "` + strings.Repeat("x", 65) + `"}`):                                                 "shape.length /nodes/x/type",
		strings.Replace(document(`"t": {"type": "trigger"}`), `"S"`, `"`+strings.Repeat("ü", 129)+`"`, 1):                                      "shape.length /name",
		strings.Replace(document(`"t": {"type": "trigger"}`), `{`, `{"translations": `+strings.Repeat("[", 60)+strings.Repeat("]", 60)+`,`, 1): "shape.depth /translations",
	} {
		_, problems := compile(t, types, []byte(raw), nil)
		require.True(t, flow.Failed(problems), raw)
		found := false
		for _, line := range lines(problems) {
			found = found || strings.HasPrefix(line, "error "+want)
		}
		require.True(t, found, "%s: %s", want, strings.Join(lines(problems), "\n"))
	}
}
