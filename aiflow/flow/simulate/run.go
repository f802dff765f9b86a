package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// The most tests, and steps of a test, that [Run] plays.
const (
	MaxTests = 100
	MaxSteps = 200
)

// Outcome is what came of a test.
type Outcome struct {
	Name    string          `json:"name"`
	Passed  bool            `json:"passed"`
	Failure *Failure        `json:"failure"`
	Trace   []flow.TraceRow `json:"trace"` // the steps that it took
}

// Coverage says what of a document tests have reached. Nodes of functions
// that it calls do not count.
type Coverage struct {
	Nodes          map[string]int `json:"nodes"`          // how often each node was entered
	Outputs        map[string]int `json:"outputs"`        // how often each connected output was taken, as "ask.out"
	MissingNodes   []string       `json:"missingNodes"`   // that no test has reached
	MissingOutputs []string       `json:"missingOutputs"` // that no test has taken
}

// Report is what came of tests.
type Report struct {
	Passed   bool      `json:"passed"`
	Tests    []Outcome `json:"tests"`
	Coverage Coverage  `json:"coverage"`
}

// TooMany reports tests that are too many, or too long.
type TooMany struct{ Message string }

func (e *TooMany) Error() string { return "simulate: " + e.Message }

// Run plays tests of a document that was compiled to a program. All together
// take at most 10,000 steps; those after that fail.
func Run(d *flow.Document, p *flow.Program, tests []Test) (Report, error) {
	if len(tests) > MaxTests {
		return Report{}, &TooMany{fmt.Sprintf("at most %d tests are played at once", MaxTests)}
	}
	out := Report{Passed: true, Tests: []Outcome{}, Coverage: uncovered(d)}
	left := maxTrace
	for _, t := range tests {
		if len(t.Steps) > MaxSteps {
			return Report{}, &TooMany{fmt.Sprintf("test %q has more than %d steps", t.Name, MaxSteps)}
		}
		g, failed := play(p, t, left)
		left = max(0, left-len(g.trace))
		out.Tests = append(out.Tests, Outcome{t.Name, failed == nil, failed, append([]flow.TraceRow{}, g.trace...)})
		out.Passed = out.Passed && failed == nil
		out.Coverage.count(g.trace)
	}
	out.Coverage.finish()
	return out, nil
}

// uncovered is the coverage of a document before any test.
func uncovered(d *flow.Document) Coverage {
	c := Coverage{Nodes: map[string]int{}, Outputs: map[string]int{}}
	for id, n := range d.Nodes {
		if n.Type == "note" {
			continue
		}
		c.Nodes[id] = 0
		for output := range n.Next {
			c.Outputs[id+"."+output] = 0
		}
	}
	return c
}

// count adds the steps of a test. A step that waits has several rows.
func (c *Coverage) count(trace []flow.TraceRow) {
	waits := ""
	for _, row := range trace {
		if slices.ContainsFunc(row.Path, func(frame string) bool { return strings.HasPrefix(frame, "call:") }) {
			continue
		}
		if n, known := c.Nodes[row.Node]; known && row.Node != waits {
			c.Nodes[row.Node] = n + 1
		}
		waits = ""
		if row.Output == "" && row.Error == nil {
			waits = row.Node
		}
		if row.Output == "" {
			continue
		}
		if name := row.Node + "." + row.Output; c.has(name) {
			c.Outputs[name]++
		} else if name := row.Node + ".out"; strings.HasPrefix(row.Output, "choice:") && c.has(name) {
			c.Outputs[name]++ // where choices go that are connected to nothing
		}
	}
}

func (c *Coverage) has(output string) bool { _, is := c.Outputs[output]; return is }

// finish lists what is missing.
func (c *Coverage) finish() {
	c.MissingNodes, c.MissingOutputs = missing(c.Nodes), missing(c.Outputs)
}

func missing(counts map[string]int) []string {
	out := []string{}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] == 0 {
			out = append(out, name)
		}
	}
	return out
}
