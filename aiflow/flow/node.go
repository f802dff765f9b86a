package flow

import (
	"encoding/json"
	"fmt"
	"time"
)

// Note adds the node's input and result to the trace. Names of variables are those
// of the document; values of secret ones are masked.
func (t *Turn) Note(in, out map[string]any) {
	if in != nil {
		t.Row.In = in
	}
	if out != nil {
		t.Row.Out = out
	}
}

// Emit adds an effect that has an id: a [DataEvent], a [ContactChange]. make gets
// the id. Emit returns the error if the effect was refused.
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

// Send queues a message with the content of a send request.
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

// Optional interfaces of a [Config]. The program finds them by type assertion and
// knows no node types.
type (
	// looper is a node that repeats the nodes after its output body.
	looper interface {
		// LoopRole returns the names of the item and the index in expressions of
		// the body, and the kind of the item.
		LoopRole() LoopRole
	}

	// caller is a node that calls a function and saves its value.
	caller interface{ SavesTo() string }

	// jumper is a node that jumps to another without a connection.
	jumper interface{ Target() string }

	// functional is a node that names functions.
	functional interface {
		UsesFunctions(yield func(slug string, at []any) bool)
	}

	// passer returns the output through which a run leaves the disabled node.
	passer interface{ PassOutput() string }

	// asker returns the type of answer in its expressions.
	asker interface{ Expects() string }
)

// LoopRole describes a loop to the program.
type LoopRole struct {
	Item, Index string
	Numbers     bool // the item is a number
	Collects    bool
	GoesOn      bool // continue with the next round after an error in one
}
