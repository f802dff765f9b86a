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
			if g = g.Called[f.Function]; g == nil {
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
	if w := t.State.Wait; w != nil && !waitable(g.Steps[w.Node]) {
		return false
	}
	if f := t.State.Failed; f != nil && g.Steps[f.Node] == nil {
		return false
	}
	return t.State.Next == "" || g.Steps[t.State.Next] != nil
}

// fits reports whether a frame can stand above the graph that its node is in.
func fits(f *Frame, below *Program) bool {
	n := below.Steps[f.Node]
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

// Graph is the graph that runs.
func (t *Turn) Graph() *Program { return t.graphs[len(t.graphs)-1] }

// Top is the innermost frame.
func (t *Turn) Top() *Frame { return &t.State.Frames[len(t.State.Frames)-1] }

// Scope is the frame whose variables are in sight.
func (t *Turn) Scope() *Frame { return &t.State.Frames[t.Base] }

// Push enters a frame.
func (t *Turn) Push(f Frame, g *Program) {
	t.State.Frames = append(t.State.Frames, f)
	t.graphs = append(t.graphs, g)
	t.rescope()
}

// Pop leaves the frame on top.
func (t *Turn) Pop() Frame {
	f := *t.Top()
	if g := t.Graph(); g.secret {
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

// PopTo ends all frames above frame i.
func (t *Turn) PopTo(i int) {
	for len(t.State.Frames) > i+1 {
		t.Pop()
	}
}

// rescope writes what expressions see of the frames.
func (t *Turn) rescope() {
	t.Path = nil
	frames := t.State.Frames
	t.Base = len(frames) - 1
	for frames[t.Base].Loop != nil {
		t.Base--
	}
	f := &frames[t.Base]
	t.Env = map[string]any{
		"vars": f.Vars, "args": ValueOf(f.Args), "error": errorValue(f.Error),
		"input": ValueOf(t.State.Input), "start": ValueOf(t.State.Start),
		"contact": ValueOf(t.World.Contact), "chat": ValueOf(t.World.Chat),
		"run": t.runValue(), "now": t.Now(),
	}
	for i := t.Base + 1; i < len(frames); i++ {
		t.ShowLoop(&frames[i], t.graphs[i])
	}
}

// ShowLoop puts the item and the index of a loop into sight.
func (t *Turn) ShowLoop(f *Frame, g *Program) {
	c := g.Steps[f.Node].config.(looper).LoopRole()
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

// PathNow names the frames above the node that runs. It is shared by the
// steps of one frame.
func (t *Turn) PathNow() []string {
	if t.Path != nil || len(t.State.Frames) == 1 {
		return t.Path
	}
	for _, f := range t.State.Frames[1:] {
		if f.Loop == nil {
			t.Path = append(t.Path, "call:"+f.Function)
			continue
		}
		t.Path = append(t.Path, f.Node+"["+strconv.Itoa(f.Loop.Index)+"]")
	}
	return t.Path
}

// pathEnd is where nothing is connected: the loop's next round, the return of
// a function, the end of the run.
func (t *Turn) pathEnd() *step {
	if f := t.Top(); f.Loop != nil {
		return t.Graph().Steps[f.Node]
	}
	if len(t.State.Frames) > 1 {
		return t.returned("", nil)
	}
	t.end(Ending{Status: StatusCompleted})
	return nil
}

// LoopIndex is the frame of the loop node in the graph that runs, or -1.
func (t *Turn) LoopIndex(node string) int {
	for i := len(t.State.Frames) - 1; i > t.Base; i-- {
		if t.State.Frames[i].Node == node {
			return i
		}
	}
	return -1
}

// leaveLoop ends the innermost loop.
func (t *Turn) leaveLoop() *step {
	f := t.Pop()
	if next := t.leave(t.Graph().Steps[f.Node], "done", nil, nil); next != nil {
		return next
	}
	return t.pathEnd()
}

// nextRound goes to the innermost loop's node.
func (t *Turn) nextRound() *step { return t.Graph().Steps[t.Top().Node] }

// returned ends the function that runs and goes on where it was called.
func (t *Turn) returned(name string, v any) *step {
	t.PopTo(t.Base)
	f := t.Pop()
	n := t.Graph().Steps[f.Node]
	c := n.config.(caller)
	t.begin(n)
	if err := t.Save(c.SavesTo(), v); err != nil {
		return t.failed(n, err)
	}
	output := "return:" + name
	if n.Next[output] == nil {
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
	t.PopTo(i)
	f := t.Pop()
	n := t.Graph().Steps[f.Node]
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

// Initial are the variables that a graph begins with.
func (p *Program) Initial() map[string]any {
	vars := make(map[string]any, len(p.Variables))
	for name, v := range p.Variables {
		vars[name] = v.initial
	}
	return vars
}
