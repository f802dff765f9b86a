package flow

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// graph has the nodes of a document and the edges between them.
type graph struct {
	document *Document
	vertices map[string]*vertex
	order    []*vertex // in the order of a walk from the start, then by id
	loops    []*vertex // loop nodes, in the order of their regions, from 1
	entries  map[*vertex]int
	hints    int // suggestions that target has made
}

// vertex is a node of the graph.
type vertex struct {
	id      string
	node    Node
	typ     *nodeType // nil: unknown
	config  Config    // nil: unknown, or of another shape
	sound   bool      // the configuration has the shape of its type
	edges   []edge
	reached bool // by a walk from the start
	rank    int

	may, must set               // regions that may be around it, and those that always are: see regions
	scope     *expression.Scope // what its expressions see
}

// edge leads from a vertex to another. The output of a jump is "".
type edge struct {
	output string
	to     *vertex
}

// newGraph connects nodes whose configurations are already decoded.
func newGraph(d *Document, vertices map[string]*vertex) *graph {
	g := &graph{document: d, vertices: vertices}
	for _, v := range vertices {
		for _, output := range v.outputs() {
			if to := vertices[v.node.Next[output]]; to != nil {
				v.edges = append(v.edges, edge{output, to})
			}
		}
		if jump, ok := v.config.(jumper); ok && vertices[jump.Target()] != nil {
			v.edges = append(v.edges, edge{"", vertices[jump.Target()]})
		}
	}
	g.walk()
	return g
}

// outputs returns the connected outputs: first those of the node's type in order,
// then others.
func (v *vertex) outputs() []string {
	known := v.known()
	place := func(output string) int {
		if i := slices.Index(known, output); i >= 0 {
			return i
		}
		return len(known)
	}
	return slices.SortedFunc(maps.Keys(v.node.Next), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
	})
}

// pass returns the output through which a run leaves a disabled node.
func (v *vertex) pass() string {
	if r, ok := v.config.(passer); ok {
		if output := r.PassOutput(); output != "" {
			return output
		}
	}
	return v.typ.pass()
}

// known returns the outputs that the node has; nil if they are unknown.
func (v *vertex) known() []string {
	if v.config == nil {
		return nil
	}
	return v.config.Outputs()
}

// walk orders the nodes by their distance from the start.
func (g *graph) walk() {
	for _, id := range []string{g.document.Start, g.document.Settings.OnError} {
		g.reach(g.vertices[id])
	}
	for _, id := range slices.Sorted(maps.Keys(g.vertices)) {
		if v := g.vertices[id]; !v.reached {
			g.order = append(g.order, v)
		}
	}
	for i, v := range g.order {
		v.rank = i
	}
}

func (g *graph) reach(start *vertex) {
	if start == nil || start.reached {
		return
	}
	start.reached = true
	queue := []*vertex{start}
	for ; len(queue) > 0; queue = queue[1:] {
		g.order = append(g.order, queue[0])
		for _, e := range queue[0].edges {
			if !e.to.reached {
				e.to.reached = true
				queue = append(queue, e.to)
			}
		}
	}
}

// ranks returns the position of each node in the order of problems.
func (g *graph) ranks() map[string]int {
	ranks := make(map[string]int, len(g.order))
	for i, v := range g.order {
		ranks[v.id] = i
	}
	return ranks
}

// maxHints limits how often all nodes are searched for a similar name.
const maxHints = 20

// target checks the target of an edge. code is "" if it is valid.
func (g *graph) target(id string) (code, message, hint string) {
	v := g.vertices[id]
	switch {
	case v == nil:
		if g.hints++; g.hints <= maxHints {
			hint = values.DidYouMean(id, keys(g.vertices))
		}
		return "graph.target", "there is no node " + values.Shorten(id), hint
	case v.node.Type == "trigger":
		return "graph.into_trigger", "an edge leads to the trigger", "connect the edge to the node after the trigger"
	case v.node.Type == "note":
		return "graph.into_note", "an edge leads to a note", ""
	}
	return "", "", ""
}

// check checks the graph as a whole.
func (g *graph) check(r *report) {
	g.checkStart(r)
	for _, v := range g.order {
		if r.full() {
			return
		}
		r.path = []any{"nodes", v.id}
		g.checkNext(r, v)
		if !v.reached && v.node.Type != "note" && g.vertices[g.document.Start] != nil {
			r.warn("graph.unreachable", "no path leads from the start to this node", "")
		}
	}
	g.checkRegions(r)
	g.checkEnds(r)
	r.path = nil
}

func (g *graph) checkStart(r *report) {
	d := g.document
	for _, at := range []struct {
		id   string
		path []any
	}{{d.Start, []any{"start"}}, {d.Settings.OnError, []any{"settings", "onError"}}} {
		if at.id == "" {
			continue // missing, or not required
		}
		code, message, hint := g.target(at.id)
		if code != "" && (code != "graph.into_trigger" || at.path[0] != "start") {
			r.problem(code, message, hint, at.path...)
		}
	}
	switch d.Kind {
	case KindFlow:
		g.checkTrigger(r)
	case KindFunction:
		g.checkFunction(r)
	}
}

// triggers returns the ids of all trigger nodes.
func (g *graph) triggers() []string {
	var ids []string
	for _, id := range keys(g.vertices) {
		if g.vertices[id].node.Type == "trigger" {
			ids = append(ids, id)
		}
	}
	return ids
}

func (g *graph) checkTrigger(r *report) {
	ids := g.triggers()
	switch {
	case len(ids) == 0:
		r.problem("graph.trigger", "the flow has no trigger node", "add a node of type trigger and set start to its id", "nodes")
	case len(ids) > 1:
		for _, id := range ids {
			if id != g.document.Start {
				r.problem("graph.trigger", "the flow has more than one trigger node", "put all events into on of one trigger", "nodes", id)
			}
		}
	}
	if start := g.vertices[g.document.Start]; start != nil && start.node.Type != "trigger" && len(ids) > 0 {
		r.problem("graph.start", "the flow does not start with its trigger", "write "+ids[0], "start")
	}
}

func (g *graph) checkFunction(r *report) {
	for _, id := range g.triggers() {
		r.problem("graph.trigger", "the function has a trigger", "remove it: a function starts when it is called", "nodes", id)
	}
	if len(g.document.Returns) == 0 {
		return
	}
	for _, v := range g.order {
		if v.reached && v.node.Type == "return" {
			return
		}
	}
	r.problem("function.return", "the function never returns its declared values", "end its paths with a return node", "returns")
}

// checkNext reports connections to missing nodes and from outputs that the node
// does not have.
func (g *graph) checkNext(r *report, v *vertex) {
	known := v.known()
	for _, output := range v.outputs() {
		if code, message, hint := g.target(v.node.Next[output]); code != "" {
			r.problem(code, message, hint, "next", output)
		}
		if v.config != nil && v.sound && !hasOutput(known, output) && !(v.node.Disabled && output == v.pass()) {
			r.problem("graph.output", "a node of type "+v.node.Type+" has no output "+output, outputHint(output, known), "next", output)
		}
	}
}

func hasOutput(known []string, output string) bool {
	for _, k := range known {
		family, all := strings.CutSuffix(k, "*")
		if k == output || all && strings.HasPrefix(output, family) {
			return true
		}
	}
	return false
}

func outputHint(output string, known []string) string {
	if hint := values.DidYouMean(output, known); hint != "" || len(known) == 0 {
		return hint
	}
	return "its outputs are " + strings.Join(known, ", ")
}
