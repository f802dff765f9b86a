package flow

// checkEnds finds paths that end where nobody can have meant it, and circles
// that never end.
func (g *graph) checkEnds(r *report) {
	for _, v := range g.order {
		if !v.reached || v.config == nil {
			continue
		}
		r.path = []any{"nodes", v.id}
		if chooses[v.node.Type] && len(v.edges) == 0 && !v.node.Disabled {
			r.warn("graph.dead_end", "chooses between ways of which none is connected", "")
		}
		if l, ok := v.config.(looper); ok && v.node.Next["body"] == "" && !l.LoopRole().Collects && !v.node.Disabled {
			r.warn("loop.empty", "the loop has no body", "connect its output body")
		}
		g.checkReturns(r, v)
	}
	for _, circle := range g.circles() {
		if g.endless(circle) {
			first := circle[0]
			for _, v := range circle {
				if v.rank < first.rank {
					first = v
				}
			}
			r.path = []any{"nodes", first.id}
			r.warn("graph.endless", "begins a circle that nothing leaves and that never waits", "give it a way out, or a node that waits for something")
		}
	}
}

// chooses are the types whose nodes do nothing but choose a way.
var chooses = map[string]bool{"condition": true, "switch": true, "random": true}

// ends are the types whose nodes have no outputs.
var ends = map[string]bool{
	"goto": true, "end": true, "flow": true, "break": true, "continue": true, "return": true, "throw": true, "note": true,
}

// checkReturns finds paths of a function that end without what it declares to
// return. The end of a path in a loop's body is the end of a round.
func (g *graph) checkReturns(r *report, v *vertex) {
	d := g.document
	if d.Kind != KindFunction || len(d.Returns) == 0 || ends[v.node.Type] || len(v.edges) > 0 || v.may.loops() {
		return
	}
	r.warn("function.no_return", "the function ends here without a return", "connect a return node")
}

// endless says whether a circle has no way out. What may wait is taken
// for one, an error that nobody takes is not.
func (g *graph) endless(circle []*vertex) bool {
	inside := map[*vertex]bool{}
	for _, v := range circle {
		inside[v] = true
	}
	for _, v := range circle {
		if v.config == nil || v.typ.Wait != "" || v.node.Type == "call" || v.node.Type == "loop" {
			return false
		}
		for _, output := range v.config.Outputs() {
			if to := g.vertices[v.node.Next[output]]; output != "error" && !inside[to] {
				return false
			}
		}
		if len(v.edges) == 0 {
			return false
		}
		for _, e := range v.edges {
			if !inside[e.to] {
				return false
			}
		}
	}
	return true
}

// circles are the strongly connected parts of the graph with an edge in
// them, found with Tarjan's algorithm.
func (g *graph) circles() [][]*vertex {
	t := tarjan{index: map[*vertex]int{}, low: map[*vertex]int{}, on: map[*vertex]bool{}}
	for _, v := range g.order {
		if _, seen := t.index[v]; !seen && v.reached {
			t.visit(v)
		}
	}
	return t.found
}

type tarjan struct {
	index, low map[*vertex]int
	on         map[*vertex]bool
	stack      []*vertex
	found      [][]*vertex
}

func (t *tarjan) visit(v *vertex) {
	t.index[v] = len(t.index)
	t.low[v] = t.index[v]
	t.stack, t.on[v] = append(t.stack, v), true
	self := false
	for _, e := range v.edges {
		self = self || e.to == v
		if _, seen := t.index[e.to]; !seen {
			t.visit(e.to)
			t.low[v] = min(t.low[v], t.low[e.to])
		} else if t.on[e.to] {
			t.low[v] = min(t.low[v], t.index[e.to])
		}
	}
	if t.low[v] != t.index[v] {
		return
	}
	var part []*vertex
	for {
		top := t.stack[len(t.stack)-1]
		t.stack, t.on[top] = t.stack[:len(t.stack)-1], false
		part = append(part, top)
		if top == v {
			break
		}
	}
	if len(part) > 1 || self {
		t.found = append(t.found, part)
	}
}
