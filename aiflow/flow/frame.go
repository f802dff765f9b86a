package flow

import (
	"maps"
	"slices"
	"strconv"
)

// link finds the graph of each frame; false when the state does not fit the
// program.
func (t *Turn) link() bool {
	t.graphs = make([]*Program, 0, len(t.State.Frames)+1)
	g := t.program
	for i := range t.State.Frames {
		f := &t.State.Frames[i]
		if f.Loop == nil && i > 0 {
			if g = g.functions[f.Function]; g == nil {
				return false
			}
		}
		if i > 0 && !fits(f, t.graphs[i-1]) {
			return false
		}
		t.graphs = append(t.graphs, g)
	}
	if len(t.graphs) == 0 || t.State.Frames[0].Loop != nil {
		return false
	}
	if w := t.State.Wait; w != nil && !waitable(g.steps[w.Node]) {
		return false
	}
	if f := t.State.Failed; f != nil && g.steps[f.Node] == nil {
		return false
	}
	return t.State.Next == "" || g.steps[t.State.Next] != nil
}

// fits reports whether a frame can stand above the graph that its node is in.
func fits(f *Frame, below *Program) bool {
	n := below.steps[f.Node]
	if n == nil {
		return false
	}
	if f.Loop != nil {
		_, ok := n.config.(looper)
		return ok && f.Loop.Index >= 0
	}
	_, ok := n.config.(caller)
	return ok
}

func waitable(n *step) bool {
	if n == nil {
		return false
	}
	_, ok := n.config.(Resumer)
	return ok
}

// graph is the graph that runs.
func (t *Turn) graph() *Program { return t.graphs[len(t.graphs)-1] }

// top is the innermost frame.
func (t *Turn) top() *Frame { return &t.State.Frames[len(t.State.Frames)-1] }

// Scope is the frame whose variables are in sight.
func (t *Turn) Scope() *Frame { return &t.State.Frames[t.base] }

// push enters a frame.
func (t *Turn) push(f Frame, g *Program) {
	t.State.Frames = append(t.State.Frames, f)
	t.graphs = append(t.graphs, g)
	t.rescope()
}

// pop leaves the frame on top.
func (t *Turn) pop() Frame {
	f := *t.top()
	if g := t.graph(); g.secret {
		t.hidden = f.secrets(t.hidden, g)
	}
	t.State.Frames = t.State.Frames[:len(t.State.Frames)-1]
	t.graphs = t.graphs[:len(t.graphs)-1]
	if f.Timer != "" {
		t.EmitNow(CancelTimer{ID: f.Timer})
	}
	t.rescope()
	return f
}

// popTo ends all frames above frame i.
func (t *Turn) popTo(i int) {
	for len(t.State.Frames) > i+1 {
		t.pop()
	}
}

// rescope writes what expressions see of the frames.
func (t *Turn) rescope() {
	t.path = nil
	frames := t.State.Frames
	t.base = len(frames) - 1
	for frames[t.base].Loop != nil {
		t.base--
	}
	f := &frames[t.base]
	t.Env = map[string]any{
		"vars": f.Vars, "args": ValueOf(f.Args), "error": errorValue(f.Error),
		"input": ValueOf(t.State.Input), "start": ValueOf(t.State.Start),
		"contact": ValueOf(t.World.Contact), "chat": ValueOf(t.World.Chat),
		"run": t.runValue(), "now": t.Now(),
	}
	for i := t.base + 1; i < len(frames); i++ {
		t.showLoop(&frames[i], t.graphs[i])
	}
}

// showLoop puts the item and the index of a loop into sight.
func (t *Turn) showLoop(f *Frame, g *Program) {
	c := g.steps[f.Node].config.(looper).LoopRole()
	t.Env[c.Index] = f.Loop.Index
	t.Env[c.Item] = f.Loop.item()
}

// item is what the round is about: of each round of count and while, its
// index.
func (l *Loop) item() any {
	if l.Items == nil {
		return l.Index
	}
	if l.Index < len(l.Items) {
		return l.Items[l.Index]
	}
	return nil
}

// ValueOf is m as expressions take it: nothing when there is none.
func ValueOf(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

// pathNow names the frames above the node that runs. It is shared by the
// steps of one frame.
func (t *Turn) pathNow() []string {
	if t.path != nil || len(t.State.Frames) == 1 {
		return t.path
	}
	for _, f := range t.State.Frames[1:] {
		if f.Loop == nil {
			t.path = append(t.path, "call:"+f.Function)
			continue
		}
		t.path = append(t.path, f.Node+"["+strconv.Itoa(f.Loop.Index)+"]")
	}
	return t.path
}

// pathEnd is where nothing is connected: the loop's next round, the return of
// a function, the end of the run.
func (t *Turn) pathEnd() *step {
	if f := t.top(); f.Loop != nil {
		return t.graph().steps[f.Node]
	}
	if len(t.State.Frames) > 1 {
		return t.returned("", nil)
	}
	t.end(Ending{Status: StatusCompleted})
	return nil
}

// loopIndex is the frame of the loop node in the graph that runs, or -1.
func (t *Turn) loopIndex(node string) int {
	for i := len(t.State.Frames) - 1; i > t.base; i-- {
		if t.State.Frames[i].Node == node {
			return i
		}
	}
	return -1
}

// leaveLoop ends the innermost loop.
func (t *Turn) leaveLoop() *step {
	f := t.pop()
	if next := t.leave(t.graph().steps[f.Node], "done", nil, nil); next != nil {
		return next
	}
	return t.pathEnd()
}

// nextRound goes to the innermost loop's node.
func (t *Turn) nextRound() *step { return t.graph().steps[t.top().Node] }

// returned ends the function that runs and goes on where it was called.
func (t *Turn) returned(name string, v any) *step {
	t.popTo(t.base)
	f := t.pop()
	n := t.graph().steps[f.Node]
	c := n.config.(caller)
	t.begin(n)
	if err := t.Save(c.SavesTo(), v); err != nil {
		return t.failed(n, err)
	}
	output := "return:" + name
	if n.next[output] == nil {
		output = "out"
	}
	var out map[string]any
	if v != nil {
		out = map[string]any{"value": v}
	}
	if next := t.leave(n, output, out, nil); next != nil {
		return next
	}
	return t.pathEnd()
}

// callTimedOut ends the call of frame i and takes its timeout output.
func (t *Turn) callTimedOut(i int) *step {
	t.State.Frames[i].Timer = "" // it has come
	if w := t.State.Wait; w != nil {
		t.State.Wait = nil
		t.release(w)
	}
	t.popTo(i)
	f := t.pop()
	n := t.graph().steps[f.Node]
	t.begin(n)
	exit, err := t.TimedOut()
	return t.follow(n, exit, err)
}

// clone copies what a turn may change. Values themselves are never changed,
// so they are shared.
func (s *State) clone() *State {
	c := *s
	c.Frames = slices.Clone(s.Frames)
	for i := range c.Frames {
		f := &c.Frames[i]
		if f.Loop != nil {
			l := *f.Loop
			f.Loop = &l
			continue
		}
		if f.Vars = maps.Clone(f.Vars); f.Vars == nil {
			f.Vars = map[string]any{}
		}
	}
	c.Said = slices.Clone(s.Said)
	return &c
}

// frameOf is the frame of a call that a timer ends, or -1.
func (s *State) frameOf(timer string) int {
	for i := range s.Frames {
		if timer != "" && s.Frames[i].Timer == timer {
			return i
		}
	}
	return -1
}

// initial are the variables that a graph begins with.
func (p *Program) initial() map[string]any {
	vars := make(map[string]any, len(p.variables))
	for name, v := range p.variables {
		vars[name] = v.initial
	}
	return vars
}
