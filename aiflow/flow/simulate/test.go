package simulate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/pattern"
)

// Test is a conversation and what is expected of it.
type Test struct {
	Name  string `json:"name"`
	Given Given  `json:"given,omitzero"`
	Steps []Step `json:"steps"`
}

// Step is something that happens, or is expected: exactly one member is set.
type Step struct {
	Send    *Message    `json:"send,omitempty"`    // the contact writes
	Advance string      `json:"advance,omitempty"` // time passes: an ISO 8601 duration
	Event   *flow.Event `json:"event,omitempty"`
	Handoff string      `json:"handoff,omitempty"` // "assigned", "closed"
	Approve *bool       `json:"approve,omitempty"` // a person answers an agent that asks
	Cancel  bool        `json:"cancel,omitempty"`
	Expect  *Expect     `json:"expect,omitempty"`
}

// Message is what a contact writes: in JSON a text, or an object as
// expressions see it.
type Message map[string]any

// UnmarshalJSON reads a text or an object.
func (m *Message) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*m = Message{"type": "text", "text": text}
		return nil
	}
	return json.Unmarshal(raw, (*map[string]any)(m))
}

// Expect is what a test expects: in JSON a text, which is that of the next
// message, or an object. Did, Node, Text, Contains, Matches and Data speak of
// the next thing that the flow has done, the others of the run.
type Expect struct {
	Did      string  `json:"did,omitempty"`      // its kind; "": a message
	Node     string  `json:"node,omitempty"`     // the node that did it
	Text     *string `json:"text,omitempty"`     // of a message
	Contains string  `json:"contains,omitempty"` // in the text of a message
	Matches  string  `json:"matches,omitempty"`  // RE2, the text of a message
	Data     any     `json:"data,omitempty"`     // a part of it: the message, the request of a call, the data of an event …

	Rest   bool           `json:"rest,omitempty"`   // whatever else was done may have been done
	Waits  flow.WaitKind  `json:"waits,omitempty"`  // what the run waits for
	Ended  flow.Status    `json:"ended,omitempty"`  // how it ended
	Error  string         `json:"error,omitempty"`  // the code of the error with which it ended
	Output any            `json:"output,omitempty"` // of the run, or a part of it
	Vars   map[string]any `json:"vars,omitempty"`   // some of the flow's variables, or parts of them
}

// UnmarshalJSON reads a text or an object.
func (e *Expect) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		e.Text = &text
		return nil
	}
	type plain Expect
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(e))
}

// ofEffect says whether the next thing is spoken of.
func (e *Expect) ofEffect() bool {
	return e.Did != "" || e.Node != "" || e.Text != nil || e.Contains != "" || e.Matches != "" || e.Data != nil
}

// Failure is an expectation that was not met.
type Failure struct {
	Step    int    `json:"step"` // from 0; the number of steps: after the last one
	Message string `json:"message"`
}

// played is a test that is played.
type played struct {
	program *flow.Program
	session *Session
	open    []Did // done, and no step has named it yet
	trace   []flow.TraceRow
	limit   int // rows of the trace that it may have
}

// play plays a test until its first failure, or until it has taken most steps.
func play(p *flow.Program, t Test, stepLimit int) (*played, *Failure) {
	g := &played{program: p, limit: stepLimit}
	var r Result
	var err error
	if g.session, r, err = Start(p, t.Given); err != nil {
		return g, &Failure{0, "The flow cannot be started: " + err.Error()}
	}
	g.note(r)
	for i, s := range t.Steps {
		why := ""
		if s.Expect != nil {
			why = g.expect(s.Expect)
		} else if why = g.unexpected(); why == "" {
			why = g.act(s)
		}
		if why != "" {
			return g, &Failure{i, why}
		}
	}
	if why := g.unexpected(); why != "" {
		return g, &Failure{len(t.Steps), why}
	}
	return g, nil
}

// note keeps what was done. Calls are only spoken of by who wants to.
func (g *played) note(r Result) {
	g.open, g.trace = append(g.open, r.Did...), append(g.trace, r.Trace...)
}

// quiet are things that need not be expected.
func (d Did) quiet() bool { return d.Kind == DidCall || d.Kind == DidEndHandoff }

// unexpected says what was done that no step names.
func (g *played) unexpected() string {
	for _, d := range g.open {
		if !d.quiet() {
			return "Unexpected: " + d.words()
		}
	}
	g.open = nil
	return ""
}

// act has something happen.
func (g *played) act(s Step) string {
	r, err := g.session.Happen(g.program, s)
	if errors.Is(err, flow.ErrNotWaiting) {
		return "The run does not wait for this event: " + g.standing()
	}
	if bad, ok := errors.AsType[*Invalid](err); ok {
		return "step" + bad.Path + " " + bad.Message
	}
	if err != nil {
		return err.Error()
	}
	g.note(r)
	if len(g.trace) > g.limit {
		return fmt.Sprintf("All tests together take more than %d steps.", maxTrace)
	}
	return ""
}

// expect says what is not as expected; "": nothing.
func (g *played) expect(e *Expect) string {
	if e.ofEffect() {
		if why := g.expectEffect(e); why != "" {
			return why
		}
	}
	if e.Rest {
		g.open = nil
	}
	return g.expectRun(e)
}

func (g *played) expectEffect(e *Expect) string {
	kind := e.Did
	kind = cmp.Or(kind, DidSend)
	for len(g.open) > 0 && g.open[0].quiet() && g.open[0].Kind != kind {
		g.open = g.open[1:]
	}
	if len(g.open) == 0 {
		return "Expected something else to happen, but nothing did: " + g.standing()
	}
	d := g.open[0]
	g.open = g.open[1:]
	text := d.text()
	switch {
	case d.Kind != kind, e.Node != "" && e.Node != d.Node:
		return fmt.Sprintf("Expected %s, but it was %s", strings.TrimSpace(kind+" "+e.Node), d.words())
	case e.Text != nil && *e.Text != text:
		return fmt.Sprintf("Expected the text %q, but it was %q.", *e.Text, text)
	case !strings.Contains(text, e.Contains):
		return fmt.Sprintf("Expected a text with %q, but it was %q.", e.Contains, text)
	case e.Data != nil && !within(e.Data, d.Data()):
		return fmt.Sprintf("Expected %s, but it was %s", compact(e.Data), compact(d.Data()))
	}
	if e.Matches == "" {
		return ""
	}
	re, _, err := pattern.Compile(e.Matches)
	if err != nil {
		return "The regular expression is wrong: " + err.Error()
	}
	if !re.MatchString(pattern.Searched(text)) {
		return fmt.Sprintf("Expected a text that matches %q, but it was %q.", e.Matches, text)
	}
	return ""
}

func (g *played) expectRun(e *Expect) string {
	s := g.session.State
	waits, ended := flow.WaitKind(""), flow.Ending{}
	if s.Wait != nil {
		waits = s.Wait.Kind
	}
	if s.Ended != nil {
		ended = *s.Ended
	}
	code := ""
	if ended.Error != nil {
		code = ended.Error.Code
	}
	var vars map[string]any
	if len(s.Frames) > 0 {
		vars = s.Frames[0].Vars
	}
	switch {
	case e.Waits != "" && e.Waits != waits:
		return fmt.Sprintf("Expected the run to wait for %s: %s", e.Waits, g.standing())
	case e.Ended != "" && e.Ended != ended.Status:
		return fmt.Sprintf("Expected the run to have ended as %s: %s", e.Ended, g.standing())
	case e.Error != "" && e.Error != code:
		return fmt.Sprintf("Expected the error %s: %s", e.Error, g.standing())
	case e.Output != nil && !within(e.Output, ended.Output):
		return fmt.Sprintf("Expected the output %s, but it was %s", compact(e.Output), compact(ended.Output))
	case e.Vars != nil && !within(e.Vars, vars):
		return fmt.Sprintf("Expected the variables %s, but they were %s", compact(e.Vars), compact(vars))
	}
	return ""
}

// standing says where the run stands.
func (g *played) standing() string {
	switch s := g.session.State; {
	case s.Ended != nil && s.Ended.Error != nil:
		return fmt.Sprintf("it ended as %s with %s: %s", s.Ended.Status, s.Ended.Error.Code, s.Ended.Error.Message)
	case s.Ended != nil:
		return fmt.Sprintf("it ended as %s.", s.Ended.Status)
	case s.Wait != nil:
		return fmt.Sprintf("it waits at %s for %s.", s.Wait.Node, s.Wait.Kind)
	}
	return "it continues."
}

// text is that of a message.
func (d Did) text() string {
	send, is := d.Effect.(flow.Send)
	if !is {
		return ""
	}
	var m struct{ Text, Caption string }
	_ = json.Unmarshal(send.Message, &m) // it is JSON
	if m.Text == "" {
		return m.Caption
	}
	return m.Text
}

// Data is the part of it that people care for: the message, the request of a
// call, the name and the data of an event, else all of the effect.
func (d Did) Data() any {
	switch e := d.Effect.(type) {
	case flow.Send:
		return e.Message
	case flow.Call:
		return e.Request
	case flow.DataEvent:
		return map[string]any{"name": e.Name, "data": e.Data}
	}
	return d.Effect
}

func (d Did) words() string {
	if d.Kind == DidSend {
		return fmt.Sprintf("the message %q of %s.", d.text(), d.Node)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s", d.Kind, d.Node)) + ": " + compact(d.Data())
}

// compact is a value as people read it in a sentence.
func compact(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const maxBytes = 500
	if len(raw) > maxBytes {
		raw = append(raw[:maxBytes:maxBytes], "…"...)
	}
	return string(raw)
}

// within says whether all of part is in whole. Of lists every item counts.
func within(part, whole any) bool { return partOf(plainly(part), plainly(whole)) }

func partOf(part, whole any) bool {
	p, is := part.(map[string]any)
	if !is {
		return reflect.DeepEqual(part, whole)
	}
	w, is := whole.(map[string]any)
	if !is {
		return false
	}
	for name, v := range p {
		have, there := w[name]
		if !there || !partOf(v, have) {
			return false
		}
	}
	return true
}

// plainly is a value as its JSON has it.
func plainly(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	_ = json.Unmarshal(raw, &out) // it was just written
	return out
}
