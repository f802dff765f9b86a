package flow

import (
	"encoding/json"
	"fmt"
	"time"
)

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

	// jumper continues at a node without a connection.
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
