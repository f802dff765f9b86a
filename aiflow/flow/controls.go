package flow

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// NodeID returns the id of the node whose step runs.
func (t *Turn) NodeID() string { return t.node.id }

// Connected reports whether an output of the node is connected.
func (t *Turn) Connected(output string) bool { return t.node.next[output] != nil }

// Outputs returns the names of the node's connected outputs, in order.
func (t *Turn) Outputs() []string { return slices.Sorted(maps.Keys(t.node.next)) }

// Goto leaves the node for another node of the document, without an output.
func (t *Turn) Goto(node string) (Exit, error) {
	next := t.graph().steps[node]
	if next == nil {
		return Exit{}, &Error{Code: "flow.no_node", Message: "there is no node " + node}
	}
	return Exit{kind: exitNode, node: next}, nil
}

// EndPath leaves the node as if nothing were connected.
func EndPath() Exit { return Exit{kind: exitPathEnd} }

// CallFunction calls a function, which has its own variables. The call ends after
// the timeout unless that is 0.
func (t *Turn) CallFunction(slug string, given map[string]Data, timeout time.Duration) (Exit, error) {
	g := t.graph().functions[slug]
	if g == nil {
		return Exit{}, &Error{Code: "function.not_found", Message: "there is no function " + slug}
	}
	args, err := t.All(given)
	if err != nil {
		return Exit{}, err
	}
	t.Note(args, nil)
	if args, err = conformAll("args", args, g.args); err != nil {
		return Exit{}, err
	}
	f := Frame{Node: t.node.id, Function: slug, Vars: g.initial(), Args: args}
	if timeout > 0 {
		f.Deadline = t.World.Now.Add(timeout)
	}
	return Exit{kind: exitNode, node: g.start}, t.enter(f, g)
}

// enter pushes a call or a loop, unless too many are nested.
func (t *Turn) enter(f Frame, g *Program) error {
	if len(t.State.Frames) > limitRunFrames {
		return overLimit(codeRunFrames, "more than %d calls and loops are nested in each other%s", limitRunFrames, repeated(t.recent))
	}
	t.push(f, g)
	return nil
}

// Return returns from the current function with values, under the name of the
// return. In a run of the function itself it ends the run.
func (t *Turn) Return(name string, given map[string]Data) (Exit, error) {
	values, err := t.All(given)
	if err != nil {
		return Exit{}, err
	}
	if values, err = conformAll("returns", values, t.graph().returns); err != nil {
		return Exit{}, err
	}
	if len(t.State.Frames) == 1 || t.base == 0 {
		return t.End(Ending{Status: StatusCompleted, Output: ValueOf(values)}), nil
	}
	t.Note(nil, map[string]any{"name": name, "value": ValueOf(values)})
	return Exit{kind: exitReturn, output: name, value: ValueOf(values)}, nil
}

// BeginLoop starts a loop of the node.
func (t *Turn) BeginLoop(l *Loop) error {
	return t.enter(Frame{Node: t.node.id, Loop: l}, t.graph())
}

// BackToLoop ends everything within the body of the node's loop and returns the
// loop. It returns nil if the run did not come from its body.
func (t *Turn) BackToLoop() *Loop {
	i := t.loopIndex(t.node.id)
	if i < 0 {
		return nil
	}
	t.popTo(i)
	return t.Loop()
}

// Loop returns the innermost loop; nil: there is none.
func (t *Turn) Loop() *Loop { return t.top().Loop }

// NextRound starts the next round of the innermost loop.
func (t *Turn) NextRound() {
	l := t.Loop()
	l.Index++
	l.Failed = false
	t.showLoop(t.top(), t.graph())
	t.path = nil
}

// LoopBody leaves the node through its output body.
func (t *Turn) LoopBody() Exit {
	t.Row.Path = t.pathNow()
	return Out("body")
}

// LeaveLoop ends the innermost loop and leaves the node by an output.
func (t *Turn) LeaveLoop(output string) Exit {
	t.pop()
	t.Row.Path = t.pathNow()
	return Out(output)
}

// Break leaves the loop around the node, Continue ends its round.
func (t *Turn) Break() (Exit, error)    { return t.exitLoop(exitBreak) }
func (t *Turn) Continue() (Exit, error) { return t.exitLoop(exitContinue) }

// exitLoop returns an exit that is valid only in the body of a loop.
func (t *Turn) exitLoop(kind exitKind) (Exit, error) {
	if t.Loop() == nil {
		return Exit{}, &Error{Code: "loop.none", Message: "the node is not in a loop"}
	}
	return Exit{kind: kind}, nil
}

// Calls returns the slugs of the functions that the nodes of a document name,
// sorted, whether they exist or not. The document may have other errors.
func (d *Document) Calls() []string {
	if d.root == nil {
		return nil
	}
	var slugs []string
	for _, n := range nodesOf(d.root) {
		config := n.value.get("config")
		if config == nil {
			continue
		}
		if typ := n.value.get("type"); typ == nil || typ.text != "call" && typ.text != "agent" {
			continue
		} else if typ.text == "call" {
			slugs = appendText(slugs, config.get("function"))
		} else if named := config.get("functions"); named != nil {
			for _, item := range named.items {
				slugs = appendText(slugs, item)
			}
		}
	}
	slices.Sort(slugs)
	return slices.Compact(slugs)
}

func nodesOf(root *tree) []member {
	if nodes := root.get("nodes"); nodes != nil {
		return nodes.members
	}
	return nil
}

func appendText(slugs []string, t *tree) []string {
	if t == nil || t.kind != kindString {
		return slugs
	}
	return append(slugs, t.text)
}

// Call starts one attempt of a call and waits for its result. It fills in the
// fields that differ between attempts.
func (t *Turn) Call(c Call) (Exit, error) {
	c.ID, c.Node, c.Attempt = t.nextID(), t.node.id, 1
	c.Key = t.World.Run.ID + "." + c.ID
	if w := t.WaitedFor; w != nil && w.Kind == WaitEffect && w.Node == t.node.id {
		c.Attempt = w.Tries + 1
		if key := values.TextOf(w.Data); key != "" {
			c.Key = key
		}
	}
	if refused := t.World.Refused[c.ID]; refused != nil {
		return Exit{}, refused
	}
	t.EmitNow(c)
	return t.Wait(Wait{Kind: WaitEffect, ID: c.ID, Tries: c.Attempt, Data: c.Key, Once: c.Once}), nil
}

// Again waits to retry a call that failed, or returns its error. With once it
// retries only a call that did not reach the other side.
func (t *Turn) Again(r RetryConfig, e *Error, once bool) (Exit, error) {
	tries := t.WaitedFor.Tries
	if tries > r.Max || !repeatable(e, once) {
		failed := *e
		failed.Attempt = tries
		return Exit{}, &failed
	}
	delay := time.Duration(float64(r.Delay) * math.Pow(r.Factor, float64(tries-1)))
	until := t.World.Now.Add(max(delay, 0))
	t.Row.Error = e
	return t.Wait(Wait{Kind: WaitEffect, Timer: t.SetTimer(until), Until: until, Tries: tries, Data: t.WaitedFor.Data}), nil
}

// repeatable reports whether another attempt may succeed.
func repeatable(e *Error, once bool) bool {
	switch e.Code {
	case CodeHTTPConnect, CodeMCPConnect, CodeLLMLimited, CodeNodeUnavailable:
		return true
	case CodeHTTPTimeout, CodeHTTPStatus, CodeMCPTimeout, CodeLLMTimeout, CodeLLMUnavailable, CodeNodeTimeout, CodeNodeFailed:
		return !once
	}
	return false
}

// CodeHTTPStatus is the code of an HTTP response whose status is not one of
// success.
const CodeHTTPStatus = "http.status"

// Result converts the result of a call: a T, or its JSON.
func Result[T any](done EffectDone) (T, error) {
	if v, ok := done.Result.(T); ok {
		return v, nil
	}
	var v T
	raw, err := json.Marshal(done.Result)
	if err == nil {
		err = values.Decode(raw, &v)
	}
	if err != nil {
		return v, &Error{Code: "internal", Message: "the result of the call cannot be read"}
	}
	return v, nil
}
