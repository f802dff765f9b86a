package flow

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Now is the time of the turn, in the time zone of the graph that runs.
func (t *Turn) Now() time.Time { return t.World.Now.In(t.graph().location) }

// Text renders a text of the node's configuration.
func (t *Turn) Text(x Text) (string, error) { return x.Eval(t.Env, t.budget) }

// Data renders a value of the node's configuration.
func (t *Turn) Data(x Data) (any, error) { return x.Eval(t.Env, t.budget) }

// Eval evaluates an expression of the node's configuration.
func (t *Turn) Eval(x Expression) (any, error) { return x.Eval(t.Env, t.budget) }

// EvalWith is Eval with one name more in sight.
func (t *Turn) EvalWith(x Expression, name string, v any) (any, error) {
	env := maps.Clone(t.Env)
	env[name] = v
	return x.Eval(env, t.budget)
}

// All renders the values of an object.
func (t *Turn) All(fields map[string]Data) (map[string]any, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	out := make(map[string]any, len(fields))
	for _, name := range values.Names(fields) {
		v, err := t.Data(fields[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if out[name], err = Admit(v); err != nil {
			return nil, At(err, name)
		}
	}
	return out, nil
}

// Note adds to the trace what the node was given and what it made. The names
// of variables are those of the document: secret ones are masked.
func (t *Turn) Note(in, out map[string]any) {
	if in != nil {
		t.Row.In = in
	}
	if out != nil {
		t.Row.Out = out
	}
}

// Emit asks for an effect that has an ID: a [DataEvent], a [ContactChange].
// make is given the id. It returns the error with which the world refused it.
func (t *Turn) Emit(make func(id string) Effect) error {
	id := t.nextID()
	if refused := t.World.Refused[id]; refused != nil {
		return refused
	}
	t.EmitNow(make(id))
	return nil
}

// EmitNow adds an effect to the turn.
func (t *Turn) EmitNow(e Effect) { t.Effects = append(t.Effects, e) }

// Send queues a message: content is that of a send request.
func (t *Turn) Send(content map[string]any, replyTo string, typing time.Duration) error {
	raw, err := encode(content)
	if err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	return t.SendRaw(raw, replyTo, typing)
}

// SendRaw sends the content of a message.
func (t *Turn) SendRaw(content json.RawMessage, replyTo string, typing time.Duration) error {
	if err := t.say(content); err != nil {
		return err
	}
	t.messages++
	node := t.node.id
	return t.Emit(func(id string) Effect {
		return Send{ID: id, Node: node, Message: content, ReplyTo: replyTo, Typing: typing}
	})
}

// runValue is what expressions see as run.
func (t *Turn) runValue() map[string]any {
	return map[string]any{"id": t.World.Run.ID, "startedAt": t.World.Run.StartedAt.In(t.graph().location)}
}

// What a [Config] may be to the program besides a step of its own. The program
// finds it by assertion: no part of it names a type of node.
type (
	// looper runs the nodes behind its output body again and again.
	looper interface {
		// LoopRole says what expressions in the body call the item and the index,
		// and of what kind the item is.
		LoopRole() LoopRole
	}

	// caller runs a function, whose value it saves.
	caller interface{ SavesTo() string }

	// jumper goes on at a node without a connection.
	jumper interface{ Target() string }

	// functional names functions that its node calls, and where.
	functional interface {
		UsesFunctions(yield func(slug string, at []any) bool)
	}

	// passer knows through which output its node is left when it is disabled.
	passer interface{ PassOutput() string }

	// asker says what answer is in its expressions.
	asker interface{ Expects() string }
)

// LoopRole is what the program must know of a loop.
type LoopRole struct {
	Item, Index string
	Numbers     bool // the item is a number
	Collects    bool
	GoesOn      bool // with the next round after an error in one
}
