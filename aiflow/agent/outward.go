package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/links"
)

// noLinks allows no address.
var noLinks = links.New(links.Options{})

// rule says to which addresses what the agent says may lead: those of the
// server's and the author's hosts, and those that the contact wrote. A tool's
// result may hold one that an attacker planted, or that carries what was said to a
// stranger when it is looked at.
func (w *worker) rule() *links.Rule {
	o := links.Options{Hosts: w.s.opts.Links, Author: w.req.Author()}
	if w.req.Filled { // what was asked need not be the contact's word
		o.Written = []string{w.req.Said}
	} else {
		for _, m := range w.begin {
			if m.Role == llm.RoleUser {
				o.Written = append(o.Written, m.Text())
			}
		}
	}
	for _, e := range w.entries {
		if e.Kind == kindInput && !e.said.Repair {
			o.Written = append(o.Written, e.said.Text)
		}
	}
	return links.New(o)
}

// spokeOther says whether anybody but the author, the contact and the model has
// had a say in what the model was told. Where no stranger has, every address in its
// words is theirs.
func (w *worker) spokeOther() bool {
	return w.req.Filled || w.session.Note != "" ||
		slices.ContainsFunc(w.begin, func(m llm.Message) bool { return m.Role == llm.RoleTool }) ||
		slices.ContainsFunc(w.entries, func(e *entry) bool { return e.Kind == kindTool && e.DoneUS > 0 })
}

// outward is a text as a contact may see it.
func (w *worker) outward(text string) string {
	if w.spokeOther() {
		return w.links.Clean(text)
	}
	return text
}

// outwardValue is outward for every text in a value.
func (w *worker) outwardValue(v any) any {
	if w.spokeOther() {
		return w.links.CleanValue(v)
	}
	return v
}

// sayable are arguments whose texts a contact may see. Where an address is an
// argument, it is one that would be opened: the call is refused.
func (w *worker) sayable(t *tool, raw json.RawMessage) (json.RawMessage, error) {
	if !w.spokeOther() {
		return raw, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return raw, errors.New("they are no valid JSON")
	}
	if where := w.leading(v); where != "" {
		return raw, fmt.Errorf("%s leads to a host that is not allowed", where)
	}
	out, err := json.Marshal(w.links.CleanValue(v))
	if err != nil {
		return raw, errors.New("they are no valid JSON")
	}
	if _, err := t.arguments(string(out)); err != nil {
		return raw, errors.New("they hold links that are not allowed")
	}
	return canonical(out)
}

// leading names a member of arguments that is an address which is not allowed.
func (w *worker) leading(v any) string {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			if s, is := item.(string); is && w.links.Leads(s) {
				return noName.ReplaceAllString(name, "_")
			}
			if where := w.leading(item); where != "" {
				return where
			}
		}
	case []any:
		for _, item := range v {
			if s, is := item.(string); is && w.links.Leads(s) {
				return "an item"
			}
			if where := w.leading(item); where != "" {
				return where
			}
		}
	}
	return ""
}

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
	if w.limits.Approval == approveNever || !w.tellsOfOthers() || r.Text == "" && r.Value == nil {
		return r, nil
	}
	e, err := w.answerOf(ctx, turn, r)
	if err != nil {
		return nil, err
	}
	if e.Status == statusApproved && w.fresh(e) {
		err = w.finish(ctx, e, statusDone, came(toolResult{Content: "It was said."}))
	} else if e.Status == statusApproved {
		err = w.askAgain(ctx, e)
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
	for _, e := range w.entries {
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
	e, err := w.next(kindTool, statusAsked, toolAsked{CallID: id, Name: toolAnswer, Origin: originOfAnswer, Arguments: raw})
	if err != nil {
		return nil, err
	}
	return e, w.write(ctx, "begun", e)
}
