package flow

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Calls are the slugs of the functions that the nodes of a document name, in
// order, whether they exist or not. The document may be wrong otherwise.
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

// Call makes one attempt of a call and waits for its result. What of the
// call differs by attempt is filled in.
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

// Again waits to repeat a call that failed, or returns its error. once says
// that only what did not reach the other side is repeated.
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

// repeatable reports whether another attempt may go better.
func repeatable(e *Error, once bool) bool {
	switch e.Code {
	case CodeHTTPConnect, CodeMCPConnect, CodeLLMLimited, CodeNodeUnavailable:
		return true
	case CodeHTTPTimeout, CodeHTTPStatus, CodeMCPTimeout, CodeLLMTimeout, CodeLLMUnavailable, CodeNodeTimeout, CodeNodeFailed:
		return !once
	}
	return false
}

// CodeHTTPStatus is the code of an answer whose status is no success.
const CodeHTTPStatus = "http.status"

// Result reads what a call gave: the type itself, or the same as JSON.
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
