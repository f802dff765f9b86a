package flow

import (
	"fmt"
	"maps"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// environment is what expressions see in a turn, and what they may spend.
type environment struct {
	frames
	World  *World
	Env    map[string]any // what expressions see
	budget *expression.Budget
}

// Now is the time of the turn, in the time zone of the graph that runs.
func (en *environment) Now() time.Time { return en.World.Now.In(en.graph().location) }

// Text renders a text of the node's configuration.
func (en *environment) Text(x Text) (string, error) { return x.Eval(en.Env, en.budget) }

// Data renders a value of the node's configuration.
func (en *environment) Data(x Data) (any, error) { return x.Eval(en.Env, en.budget) }

// Eval evaluates an expression of the node's configuration.
func (en *environment) Eval(x Expression) (any, error) { return x.Eval(en.Env, en.budget) }

// EvalWith is Eval with one name more in sight.
func (en *environment) EvalWith(x Expression, name string, v any) (any, error) {
	env := maps.Clone(en.Env)
	env[name] = v
	return x.Eval(env, en.budget)
}

// All renders the values of an object.
func (en *environment) All(fields map[string]Data) (map[string]any, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	out := make(map[string]any, len(fields))
	for _, name := range values.Names(fields) {
		v, err := en.Data(fields[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if out[name], err = Admit(v); err != nil {
			return nil, At(err, name)
		}
	}
	return out, nil
}

// push enters a frame.
func (en *environment) push(f Frame, g *Program) {
	en.state.Frames = append(en.state.Frames, f)
	en.graphs = append(en.graphs, g)
	en.rescope()
}

// drop leaves the frame on top.
func (en *environment) drop() Frame {
	f := *en.top()
	if g := en.graph(); g.secret {
		en.hidden = f.secrets(en.hidden, g)
	}
	en.state.Frames = en.state.Frames[:len(en.state.Frames)-1]
	en.graphs = en.graphs[:len(en.graphs)-1]
	en.rescope()
	return f
}

// rescope writes what expressions see of the frames.
func (en *environment) rescope() {
	en.path = nil
	frames := en.state.Frames
	en.base = len(frames) - 1
	for frames[en.base].Loop != nil {
		en.base--
	}
	f := &frames[en.base]
	en.Env = map[string]any{
		"vars": f.Vars, "args": ValueOf(f.Args), "error": errorValue(f.Error),
		"input": ValueOf(en.state.Input), "start": ValueOf(en.state.Start),
		"contact": ValueOf(en.World.Contact), "chat": ValueOf(en.World.Chat),
		"run": en.runValue(), "now": en.Now(),
	}
	for i := en.base + 1; i < len(frames); i++ {
		en.showLoop(&frames[i], en.graphs[i])
	}
}

// showLoop puts the item and the index of a loop into sight.
func (en *environment) showLoop(f *Frame, g *Program) {
	c := g.steps[f.Node].config.(looper).LoopRole()
	en.Env[c.Index] = f.Loop.Index
	en.Env[c.Item] = f.Loop.item()
}

// showError lets expressions of the graph that runs see an error.
func (en *environment) showError(e *Error) {
	en.Scope().Error = e
	en.Env["error"] = errorValue(e)
}

// runValue is what expressions see as run.
func (en *environment) runValue() map[string]any {
	return map[string]any{"id": en.World.Run.ID, "startedAt": en.World.Run.StartedAt.In(en.graph().location)}
}
