package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Difference is what two programs made differently of one past.
type Difference struct {
	Messages  []ChangedMessage
	Path      []ChangedStep
	Variables []ChangedValue // of the flow itself, by name; secret ones are left out
	Output    *ChangedValue  // nil: the same
	Status    [2]string      // before and after: completed, failed, cancelled, or what it waits for
}

// ChangedMessage is a message that only one of them sent.
type ChangedMessage struct {
	Added   bool // only the second one sent it
	At      int  // its place among the messages of its sender, from 0
	Node    string
	Message json.RawMessage // as a send request has it
}

// ChangedStep is a step that only one of them took: its node and the output,
// "each[2] greet.out".
type ChangedStep struct {
	Added bool
	At    int
	Step  string
}

// ChangedValue is a value that differs. Nothing is nil.
type ChangedValue struct {
	Name          string
	Before, After any
}

// Same says that there is no difference.
func (d *Difference) Same() bool {
	return len(d.Messages)+len(d.Path)+len(d.Variables) == 0 && d.Output == nil && d.Status[0] == d.Status[1]
}

// Compare tells what two replays of one past did differently. The documents are
// those of their programs.
func Compare(before *flow.Document, x Replayed, after *flow.Document, y Replayed) (Difference, error) {
	var d Difference
	xs, err := x.messages()
	if err != nil {
		return d, err
	}
	ys, err := y.messages()
	if err != nil {
		return d, err
	}
	same := func(i, j int) bool { return bytes.Equal(xs[i].Message, ys[j].Message) }
	changes(len(xs), len(ys), same, func(added bool, at int) {
		m := xs
		if added {
			m = ys
		}
		d.Messages = append(d.Messages, ChangedMessage{added, at, m[at].Node, m[at].Message})
	})
	px, py := x.Path(), y.Path()
	changes(len(px), len(py), func(i, j int) bool { return px[i] == py[j] }, func(added bool, at int) {
		p := px
		if added {
			p = py
		}
		d.Path = append(d.Path, ChangedStep{added, at, p[at]})
	})
	d.values(before, x, after, y)
	return d, nil
}

// messages are what was sent.
func (r *Replayed) messages() ([]ChangedMessage, error) {
	var out []ChangedMessage
	for _, did := range r.Did {
		if did.Kind != DidSend {
			continue
		}
		raw, err := json.Marshal(did.Data())
		if err == nil {
			raw, err = canonical(raw)
		}
		if err != nil {
			return nil, fmt.Errorf("simulate: writing a message: %w", err)
		}
		out = append(out, ChangedMessage{Node: did.Node, Message: raw})
	}
	return out, nil
}

// Path are the steps that were left, in order: "each[2] greet.out".
func (r *Replayed) Path() []string { return PathOf(r.Trace) }

// PathOf is the path of a trace: of each step that was left, or that ended a
// path, where it stands, its node and the output.
func PathOf(trace []flow.TraceRow) []string {
	var out []string
	for i, row := range trace {
		if row.Output == "" && i+1 < len(trace) && trace[i+1].Node == row.Node && slices.Equal(trace[i+1].Path, row.Path) {
			continue // it waited
		}
		out = append(out, strings.TrimSpace(strings.Join(row.Path, " ")+" "+strings.TrimSuffix(row.Node+"."+row.Output, ".")))
	}
	return out
}

func (d *Difference) values(before *flow.Document, x Replayed, after *flow.Document, y Replayed) {
	a, b := variables(before, x.Session), variables(after, y.Session)
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !sameValue(a[name], b[name]) {
			d.Variables = append(d.Variables, ChangedValue{name, a[name], b[name]})
		}
	}
	var outX, outY any
	d.Status[0], outX = x.Session.end()
	d.Status[1], outY = y.Session.end()
	if !sameValue(outX, outY) {
		d.Output = &ChangedValue{"", outX, outY}
	}
}

func variables(doc *flow.Document, s *Session) map[string]any {
	if s.State == nil || len(s.State.Frames) == 0 {
		return map[string]any{}
	}
	return doc.Shown(s.State.Frames[0].Vars)
}

// end is how a session stands, and its output.
func (s *Session) end() (status string, output any) {
	switch {
	case s.State == nil:
		return "", nil
	case s.State.Ended != nil:
		return string(s.State.Ended.Status), s.State.Ended.Output
	case s.State.Wait != nil:
		return string(s.State.Wait.Kind), nil
	}
	return "running", nil
}

func sameValue(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && sameJSON(x, y)
}

// changes tells what of two lists is in one of them only, in order, by their
// longest common part.
func changes(n, m int, same func(i, j int) bool, report func(added bool, at int)) {
	head := 0
	for head < n && head < m && same(head, head) {
		head++
	}
	common := make([][]int32, n-head+1) // of what is behind i and j
	for i := range common {
		common[i] = make([]int32, m-head+1)
	}
	for i := n - 1; i >= head; i-- {
		for j := m - 1; j >= head; j-- {
			at := &common[i-head][j-head]
			if *at = max(common[i-head+1][j-head], common[i-head][j-head+1]); same(i, j) {
				*at = common[i-head+1][j-head+1] + 1
			}
		}
	}
	i, j := head, head
	for i < n || j < m {
		switch {
		case i < n && j < m && same(i, j):
			i, j = i+1, j+1
		case j == m || i < n && common[i-head+1][j-head] >= common[i-head][j-head+1]:
			report(false, i)
			i++
		default:
			report(true, j)
			j++
		}
	}
}
