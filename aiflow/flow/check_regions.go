package flow

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// Regions are parts of a graph in which expressions see more names: the bodies of
// loops, and the paths after an error. Region 0 is that of errors; each loop has
// one of its own. A node is in a region if a path through the region's entry leads
// to it. A path cannot leave a region: a round of a loop ends where the path ends.

// set is a set of regions.
type set []uint64

func (b set) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b set) add(i int)      { b[i/64] |= 1 << (i % 64) }

func (b set) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// bytes returns a key for equal sets.
func (b set) bytes() []byte {
	var out []byte
	for _, word := range b {
		out = binary.LittleEndian.AppendUint64(out, word)
	}
	return out
}

// unite adds the members of c, and intersect keeps only those of c. Both report
// whether b has changed.
func (b set) unite(c set) (changed bool) {
	for i := range b {
		old := b[i]
		b[i] |= c[i]
		changed = changed || b[i] != old
	}
	return changed
}

func (b set) intersect(c set) (changed bool) {
	for i := range b {
		old := b[i]
		b[i] &= c[i]
		changed = changed || b[i] != old
	}
	return changed
}

// regionOfErrors is the region in which expressions see error.
const regionOfErrors = 0

// regions determines the regions around each node.
func (g *graph) regions() {
	g.entries = map[*vertex]int{}
	for _, v := range g.order {
		if _, ok := v.config.(looper); ok {
			g.loops = append(g.loops, v)
			g.entries[v] = len(g.loops)
		}
	}
	words := len(g.loops)/64 + 1
	for _, v := range g.order {
		v.may, v.must = make(set, words), make(set, words)
		for i := range v.must {
			v.must[i] = ^uint64(0)
		}
	}
	g.enter(g.vertices[g.document.Start], make(set, words))
	failed := make(set, words)
	failed.add(regionOfErrors)
	g.enter(g.vertices[g.document.Settings.OnError], failed)
	g.spread()
}

// enter records that a path begins at v within the given regions.
func (g *graph) enter(v *vertex, in set) {
	if v != nil {
		v.may.unite(in)
		v.must.intersect(in)
	}
}

// spread follows all edges until nothing changes. It terminates because each change
// adds or removes a member of a set.
func (g *graph) spread() {
	work := make([]*vertex, 0, len(g.order))
	queued := map[*vertex]bool{}
	for _, v := range g.order {
		if v.reached {
			work, queued[v] = append(work, v), true
		}
	}
	for ; len(work) > 0; work = work[1:] {
		v := work[0]
		queued[v] = false
		for _, e := range v.edges {
			changed := e.to.may.unite(g.inside(v, e, v.may))
			changed = e.to.must.intersect(g.inside(v, e, v.must)) || changed
			if changed && !queued[e.to] {
				work, queued[e.to] = append(work, e.to), true
			}
		}
	}
}

// inside returns the regions of an edge from v.
func (g *graph) inside(v *vertex, e edge, in set) set {
	entry := -1
	if region, loop := g.entries[v]; loop && e.output == "body" {
		entry = region
	}
	if e.output == "error" {
		entry = regionOfErrors
	}
	if entry < 0 || in.has(entry) {
		return in
	}
	out := append(set{}, in...)
	out.add(entry)
	return out
}

// around returns the loops that may be around v, outer ones first. A run cannot be
// in more loops than these.
func (g *graph) around(v *vertex) []*vertex {
	var loops []*vertex
	for i, l := range g.loops {
		if v.may.has(i + 1) {
			loops = append(loops, l)
		}
	}
	slices.SortStableFunc(loops, func(a, b *vertex) int { return cmp.Compare(a.may.count(), b.may.count()) })
	return loops[max(0, len(loops)-limitRunFrames):]
}

// loops reports whether one of the regions is the body of a loop.
func (b set) loops() bool {
	n := b.count()
	return n > 1 || n == 1 && !b.has(regionOfErrors)
}

// fallingOff returns the nodes from which a path leads to a node without a
// connection.
func (g *graph) fallingOff() map[*vertex]bool {
	before := map[*vertex][]*vertex{}
	falls := map[*vertex]bool{}
	var work []*vertex
	for _, v := range g.order {
		for _, e := range v.edges {
			before[e.to] = append(before[e.to], v)
		}
		if len(v.edges) == 0 && !ends[v.node.Type] {
			falls[v] = true
			work = append(work, v)
		}
	}
	for ; len(work) > 0; work = work[1:] {
		for _, v := range before[work[0]] {
			if !falls[v] {
				falls[v] = true
				work = append(work, v)
			}
		}
	}
	return falls
}

// checkRegions reports edges that wrongly enter or leave the body of a loop.
func (g *graph) checkRegions(r *report) {
	falls := g.fallingOff()
	for _, v := range g.order {
		if !v.reached {
			continue
		}
		r.path = []any{"nodes", v.id}
		for _, e := range v.edges {
			g.checkEdge(r, e, g.inside(v, e, v.must), falls)
		}
		if g.entries[v] > 0 && v.must.count() > limitRunFrames {
			r.problem("loop.depth", fmt.Sprintf("is nested in more than %d loops", limitRunFrames), "")
		}
	}
}

// checkEdge checks an edge within the given regions. Leaving a body is intended if
// everything that follows ends the run or the loop.
func (g *graph) checkEdge(r *report, e edge, around set, falls map[*vertex]bool) {
	at := []any{"next", e.output}
	if e.output == "" {
		at = []any{"config", "node"}
	}
	for i, l := range g.loops {
		region := i + 1
		switch {
		case e.to == l && around.has(region):
			r.problem("loop.back", "leads from the body of "+l.id+" back to it, which would start the loop again inside itself",
				"do not connect this output: the round ends there and the next one starts", at...)
			return
		case around.has(region) && !e.to.must.has(region) && falls[e.to]:
			r.warn("loop.leaves", "leads out of the body of "+l.id+": the nodes that follow are a part of the round, and the loop continues after them",
				"end the round here, or end the loop with a break node and connect its output done", at...)
			return
		}
	}
}

// checkEnds reports paths that end where it cannot be intended, and circles that
// never end.
func (g *graph) checkEnds(r *report) {
	for _, v := range g.order {
		if !v.reached || v.config == nil {
			continue
		}
		r.path = []any{"nodes", v.id}
		if chooses[v.node.Type] && len(v.edges) == 0 && !v.node.Disabled {
			r.warn("graph.dead_end", "none of its outputs is connected", "")
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
			r.warn("graph.endless", "starts a cycle that has no exit and never waits", "add an exit, or a node that waits for something")
		}
	}
}

// chooses are the types whose nodes only choose an output.
var chooses = map[string]bool{"condition": true, "switch": true, "random": true}

// ends are the types whose nodes have no outputs.
var ends = map[string]bool{
	"goto": true, "end": true, "flow": true, "break": true, "continue": true, "return": true, "throw": true, "note": true,
}

// checkReturns reports paths of a function that end without returning the declared
// values. In a loop's body, the end of a path is the end of a round.
func (g *graph) checkReturns(r *report, v *vertex) {
	d := g.document
	if d.Kind != KindFunction || len(d.Returns) == 0 || ends[v.node.Type] || len(v.edges) > 0 || v.may.loops() {
		return
	}
	r.warn("function.no_return", "the function ends here without a return", "connect a return node")
}

// endless reports whether a circle has no exit. A node that may wait counts as an
// exit. An error that no node handles does not.
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

// circles returns the strongly connected components of the graph that have an edge,
// by Tarjan's algorithm.
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
