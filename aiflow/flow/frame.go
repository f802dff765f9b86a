package flow

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// frames are the levels of a run during a turn: the flow, and the functions and
// loops that it is in.
type frames struct {
	state   *State
	program *Program   // of the run
	graphs  []*Program // of each frame
	base    int        // the frame whose variables are visible
	path    []string   // of the frames; nil: not computed yet
	hidden  []string   // secrets of frames that have ended
}

// link finds the program of each frame. It returns false if the state does not
// match the program.
func (fs *frames) link() bool {
	fs.graphs = make([]*Program, 0, len(fs.state.Frames)+1)
	g := fs.program
	for i := range fs.state.Frames {
		f := &fs.state.Frames[i]
		if f.Loop == nil && i > 0 {
			if g = g.functions[f.Function]; g == nil {
				return false
			}
		}
		if i > 0 && !fits(f, fs.graphs[i-1]) {
			return false
		}
		fs.graphs = append(fs.graphs, g)
	}
	if len(fs.graphs) == 0 || fs.state.Frames[0].Loop != nil {
		return false
	}
	if w := fs.state.Wait; w != nil && !waitable(g.steps[w.Node]) {
		return false
	}
	if f := fs.state.Failed; f != nil && g.steps[f.Node] == nil {
		return false
	}
	return fs.state.Next == "" || g.steps[fs.state.Next] != nil
}

// graph returns the current program.
func (fs *frames) graph() *Program { return fs.graphs[len(fs.graphs)-1] }

// top returns the innermost frame.
func (fs *frames) top() *Frame { return &fs.state.Frames[len(fs.state.Frames)-1] }

// Scope returns the frame whose variables are visible.
func (fs *frames) Scope() *Frame { return &fs.state.Frames[fs.base] }

// Slug returns the slug of the current document.
func (fs *frames) Slug() string { return fs.graph().slug }

// ReplyTimeout returns how long the document waits for replies by default; 0:
// without a limit.
func (fs *frames) ReplyTimeout() time.Duration { return fs.graph().replyTimeout }

// Locale returns the locale of the document, such as pt-BR.
func (fs *frames) Locale() string { return fs.graph().locale }

// AnswerReader returns the argument of [Types.ReadAnswers]; it may be nil.
func (fs *frames) AnswerReader() AnswerReader { return fs.graph().answers }

// IsSecret reports whether a variable is declared as secret.
func (fs *frames) IsSecret(variable string) bool { return fs.graph().variables[variable].Secret }

// pathNow returns the names of the frames above the current node. The steps of one
// frame share it.
func (fs *frames) pathNow() []string {
	if fs.path != nil || len(fs.state.Frames) == 1 {
		return fs.path
	}
	for _, f := range fs.state.Frames[1:] {
		if f.Loop == nil {
			fs.path = append(fs.path, "call:"+f.Function)
			continue
		}
		fs.path = append(fs.path, f.Node+"["+strconv.Itoa(f.Loop.Index)+"]")
	}
	return fs.path
}

// loopIndex returns the index of the frame of a loop node in the current program,
// or −1.
func (fs *frames) loopIndex(node string) int {
	for i := len(fs.state.Frames) - 1; i > fs.base; i-- {
		if fs.state.Frames[i].Node == node {
			return i
		}
	}
	return -1
}

// fits reports whether a frame can be above the program that has its node.
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

// pop pops the top frame and cancels its timer.
func (t *Turn) pop() Frame {
	f := t.drop()
	if f.Timer != "" {
		t.EmitNow(CancelTimer{ID: f.Timer})
	}
	return f
}

// popTo pops all frames above frame i.
func (t *Turn) popTo(i int) {
	for len(t.State.Frames) > i+1 {
		t.pop()
	}
}

// item returns the item of the round. For count and while it is the index.
func (l *Loop) item() any {
	if l.Items == nil {
		return l.Index
	}
	if l.Index < len(l.Items) {
		return l.Items[l.Index]
	}
	return nil
}

// ValueOf returns m as a value of expressions: nil if m is nil.
func ValueOf(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

// pathEnd ends a path at an output without a connection: it continues with the
// loop's next round, returns from a function, or ends the run.
func (r runner) pathEnd() *step {
	if f := r.top(); f.Loop != nil {
		return r.graph().steps[f.Node]
	}
	if len(r.State.Frames) > 1 {
		return r.returned("", nil)
	}
	r.end(Ending{Status: StatusCompleted})
	return nil
}

// leaveLoop ends the innermost loop.
func (r runner) leaveLoop() *step {
	f := r.pop()
	if next := r.leave(r.graph().steps[f.Node], "done", nil, nil); next != nil {
		return next
	}
	return r.pathEnd()
}

// nextRound goes to the innermost loop's node.
func (r runner) nextRound() *step { return r.graph().steps[r.top().Node] }

// returned returns from the current function and continues after its call.
func (r runner) returned(name string, v any) *step {
	r.popTo(r.base)
	f := r.pop()
	n := r.graph().steps[f.Node]
	c := n.config.(caller)
	r.begin(n)
	if err := r.Save(c.SavesTo(), v); err != nil {
		return r.failed(n, err)
	}
	output := "return:" + name
	if n.next[output] == nil {
		output = "out"
	}
	var out map[string]any
	if v != nil {
		out = map[string]any{"value": v}
	}
	if next := r.leave(n, output, out, nil); next != nil {
		return next
	}
	return r.pathEnd()
}

// callTimedOut ends the call of frame i and takes its timeout output.
func (r runner) callTimedOut(i int) *step {
	r.State.Frames[i].Timer = "" // it has fired
	if w := r.State.Wait; w != nil {
		r.State.Wait = nil
		r.release(w)
	}
	r.popTo(i)
	f := r.pop()
	n := r.graph().steps[f.Node]
	r.begin(n)
	exit, err := r.TimedOut()
	return r.follow(n, exit, err)
}

// clone copies the parts of a state that a turn may change. Values are immutable
// and therefore shared.
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

// frameOf returns the index of the frame of a call that a timer ends, or −1.
func (s *State) frameOf(timer string) int {
	for i := range s.Frames {
		if timer != "" && s.Frames[i].Timer == timer {
			return i
		}
	}
	return -1
}

// initial returns the initial variables of a program.
func (p *Program) initial() map[string]any {
	vars := make(map[string]any, len(p.variables))
	for name, v := range p.variables {
		vars[name] = v.initial
	}
	return vars
}

// Shown returns the variables of the document that are not secret.
func (d *Document) Shown(vars map[string]any) map[string]any {
	out := make(map[string]any, len(vars))
	for name, value := range vars {
		if !d.Variables[name].Secret {
			out[name] = value
		}
	}
	return out
}

// mask removes the values of secret variables from a trace row.
func (fs *frames) mask(row *TraceRow) {
	secrets := fs.Secrets()
	if len(secrets) == 0 {
		return
	}
	row.In = values.ObjectOf(values.Hide(row.In, secrets))
	row.Out = values.ObjectOf(values.Hide(row.Out, secrets))
	row.Warning = values.TextOf(values.Hide(row.Warning, secrets))
	row.Error = hideError(row.Error, secrets)
}

// Secrets returns the values of secret variables and arguments, as texts.
func (fs *frames) Secrets() []string {
	out := fs.hidden[:len(fs.hidden):len(fs.hidden)]
	for i := range fs.state.Frames {
		if fs.graphs[i].secret {
			out = fs.state.Frames[i].secrets(out, fs.graphs[i])
		}
	}
	slices.SortFunc(out, func(a, b string) int { // longer ones first: they may contain others
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	return out
}

// hideError returns e with secrets masked.
func hideError(e *Error, secrets []string) *Error {
	if e == nil || len(secrets) == 0 {
		return e
	}
	c := *e
	c.Message = values.HideText(e.Message, secrets)
	c.Detail = values.ObjectOf(values.Hide(e.Detail, secrets))
	return &c
}

// secrets appends the secrets of one frame.
func (f *Frame) secrets(out []string, g *Program) []string {
	return secretsOf(secretsOf(out, f.Vars, g.variables), f.Args, g.args)
}

func secretsOf(out []string, vars map[string]any, declared map[string]variable) []string {
	for name, v := range vars {
		if declared[name].Secret {
			out = values.Leaves(out, v)
		}
	}
	return out
}
