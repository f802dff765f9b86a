package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/structured"
)

// ending is a call by which the model ends the leg; nil: there is none.
func ending(e *entry) *llm.ToolCall {
	for i, c := range e.answer.Message.Calls {
		if c.Name == toolHandoff || c.Name == toolFinish {
			return &e.answer.Message.Calls[i]
		}
	}
	return nil
}

// end ends the leg as the model wants it. Arguments that are wrong are mended
// like an answer.
func (w *worker) end(ctx context.Context, e *entry, c *llm.ToolCall) (*flow.ModelResult, error) {
	t := w.tools.byName[c.Name]
	if t == nil { // it made the name up
		return nil, w.mend(ctx, "There is no tool "+c.Name+".")
	}
	if c.Name == toolHandoff {
		w.remember(ctx)
		return w.result(flow.FinishHandoff, StopHandoff), nil
	}
	raw, err := t.arguments(c.Arguments)
	if err != nil {
		if w.journal.repairs() < w.maxRepairs() {
			return nil, w.mend(ctx, "The arguments of "+toolFinish+" are not valid: "+err.Error())
		}
		return w.result(flow.FinishInvalid, StopInvalid), nil
	}
	r := w.result(flow.FinishDone, StopDone)
	if w.schema != nil {
		_, r.Value, err = w.schema.Read(string(raw))
		r.Value = w.outward.value(r.Value)
	} else {
		var last struct{ Text string }
		err = json.Unmarshal(raw, &last)
		r.Text = w.outward.text(last.Text)
	}
	if err != nil {
		return w.result(flow.FinishInvalid, StopInvalid), nil
	}
	w.remember(ctx, llm.Assistant(r.Text))
	return w.release(ctx, e, r)
}

// conclude makes a result of an answer without calls. It returns nothing when
// the model is to mend it.
func (w *worker) conclude(ctx context.Context, e *entry) (*flow.ModelResult, error) {
	a := e.answer
	why, text := StopDone, strings.TrimSpace(a.Message.Text())
	switch {
	case e.wanted.Last != "":
		why = e.wanted.Last
	case a.Stop == llm.StopLength:
		why = StopTruncated
	case a.Stop == llm.StopRefused:
		why = StopRefused
	}
	if why == StopRefused && text == "" {
		return nil, &flow.Error{Code: string(llm.CodeFiltered), Message: "The model refuses to answer.", Detail: detail(why)}
	}
	if text == "" && why != StopDone {
		return w.result(flow.FinishLimit, why), nil
	}
	if w.schema != nil && (!w.limits.Converse || e.wanted.Last != "") {
		return w.structured(ctx, e, why, text)
	}
	w.remember(ctx)
	finish := flow.FinishDone
	if w.limits.Converse && e.wanted.Last == "" && text != "" {
		finish, why = flow.FinishAsk, StopAsk
	}
	r := w.result(finish, why)
	r.Text = w.outward.text(text)
	return w.release(ctx, e, r)
}

// structured makes a result of an answer that must fit a schema.
func (w *worker) structured(ctx context.Context, e *entry, why Stop, text string) (*flow.ModelResult, error) {
	_, v, err := w.schema.Read(text)
	var bad *structured.Misfit
	switch {
	case err == nil:
		w.remember(ctx)
		r := w.result(flow.FinishDone, why)
		r.Value, r.Text = w.outward.value(v), w.outward.text(text)
		return w.release(ctx, e, r)
	case !errors.As(err, &bad):
		return nil, err
	case e.wanted.Last != "":
		return w.result(flow.FinishLimit, why), nil
	case why != StopRefused && w.journal.repairs() < w.maxRepairs():
		return nil, w.mend(ctx, bad.Correction())
	}
	return w.result(flow.FinishInvalid, StopInvalid), nil
}

// maxRepairs is how often an answer may be mended.
func (w *worker) maxRepairs() int {
	if w.req.JSON {
		return w.req.Repair
	}
	return maxInvalid - 1
}

// mend tells the model what is wrong with its answer.
func (w *worker) mend(ctx context.Context, text string) error {
	return w.journal.instruct(ctx, instruction{Text: noLinks.Clean(text), Repair: true})
}
