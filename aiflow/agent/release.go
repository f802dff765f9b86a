package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// toolAnswer is what people are asked about when the answer itself needs
// consent. No tool of a model has the name.
const (
	toolAnswer     = "(answer)"
	originOfAnswer = "answer"
)

// spoken is an answer as it is asked about.
type spoken struct {
	Text  string `json:"text,omitempty"`
	Value any    `json:"value,omitempty"`
}

// release lets the answer of a turn out. One that may hold what is of other
// contacts waits for consent, unless the node says that no one is asked.
func (w *worker) release(ctx context.Context, turn *entry, r *flow.ModelResult) (*flow.ModelResult, error) {
	if w.limits.Approval == approveNever || !w.secrets.ofOthers() || r.Text == "" && r.Value == nil {
		return r, nil
	}
	e, err := w.answerOf(ctx, turn, r)
	if err != nil {
		return nil, err
	}
	if e.Status == statusApproved && w.consent.fresh(e) {
		err = w.journal.finish(ctx, e, statusDone, came(toolResult{Content: "The message was sent."}))
	} else if e.Status == statusApproved {
		err = w.consent.askAgain(ctx, e)
	}
	if err != nil {
		return nil, err
	}
	if e.Status == statusAsked {
		return w.askFor(e)
	}
	return e.say(r) // what was approved, whatever it would be by now
}

// say makes the result of an answer one of what its entry holds.
func (e *entry) say(r *flow.ModelResult) (*flow.ModelResult, error) {
	var s spoken
	d := json.NewDecoder(bytes.NewReader(e.asked.Arguments))
	d.UseNumber()
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("reading the answer of an agent: %w", err)
	}
	if r.Value = s.Value; s.Value == nil {
		r.Text = s.Text
	}
	return r, nil
}

// answerOf is the entry of the answer of a turn; a new one waits for consent.
func (w *worker) answerOf(ctx context.Context, turn *entry, r *flow.ModelResult) (*entry, error) {
	id := fmt.Sprintf("turn %d", turn.Seq)
	for _, e := range w.journal.entries {
		if e.Kind == kindTool && e.asked.Name == toolAnswer && e.asked.CallID == id {
			return e, nil
		}
	}
	said := spoken{Value: r.Value}
	if r.Value == nil {
		said.Text = r.Text
	}
	raw, err := json.Marshal(said)
	if err != nil {
		return nil, fmt.Errorf("writing the answer of an agent: %w", err)
	}
	if raw, err = canonical(raw); err != nil {
		return nil, err
	}
	e, err := w.journal.next(kindTool, statusAsked, toolAsked{CallID: id, Name: toolAnswer, Origin: originOfAnswer, Arguments: raw})
	if err != nil {
		return nil, err
	}
	return e, w.journal.write(ctx, "begun", e)
}
