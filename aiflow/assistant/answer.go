package assistant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/structured"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/internal/links"
)

// Answer returns the [runtime.Caller] of [flow.CallAssistant].
func (s *Service) Answer(ctx context.Context, req runtime.Request) (any, error) {
	c, err := s.begin(ctx, req, "assistant")
	if err != nil {
		return nil, err
	}
	result, err := c.answer(ctx)
	if err != nil {
		return nil, Failure(err)
	}
	result.Usage = c.usage()
	return result, nil
}

func (s *Service) begin(ctx context.Context, req runtime.Request, feature string) (*call, error) {
	in, is := req.Call.Request.(flow.ModelRequest)
	if !is {
		return nil, fmt.Errorf("assistant: a call of a model has a request of the type %T", req.Call.Request)
	}
	project, err := s.opts.Project(ctx, req.Run.Chat.Account, req.Run.Owner)
	if err != nil {
		return nil, fmt.Errorf("looking for the project of a flow: %w", err)
	}
	return &call{s: s, req: req, in: in, project: project, feature: feature}, nil
}

// answer asks the model, and, if that fails, the fallback model.
func (c *call) answer(ctx context.Context) (*flow.ModelResult, error) {
	p, err := c.prompt(ctx)
	if err != nil {
		return nil, err
	}
	first, cancel := c.share(ctx)
	defer cancel()
	r, err := c.ask(first, c.in.Model, p)
	if err != nil && c.in.FallbackModel != "" && ctx.Err() == nil {
		c.s.opts.Logger.WarnContext(ctx, "a model failed, and another is asked", "model", c.in.Model, "fallback", c.in.FallbackModel,
			"run", c.req.Run.ID, "error", err)
		r, err = c.ask(ctx, c.in.FallbackModel, p)
	}
	if err != nil {
		return nil, err
	}
	r.Sources = p.sources
	c.outward(p, r)
	if r.Finish == flow.FinishDone {
		c.remember(ctx, p, r)
	}
	return r, nil
}

// outward applies the rule for links to an answer. It does so if the prompt has
// text that neither the author nor the contact wrote: a file of the project, the
// result of a tool of an earlier run, or values that the flow has inserted.
func (c *call) outward(p *prompt, r *flow.ModelResult) {
	tool := func(m llm.Message) bool { return m.Role == llm.RoleTool }
	if !c.in.Filled && !p.known && !p.summed && !slices.ContainsFunc(p.earlier, tool) {
		return
	}
	o := links.Options{Hosts: c.s.opts.Links, Author: c.in.Author(), Written: []string{c.in.Said}}
	if !c.in.Filled {
		o.Written = []string{c.in.Input}
		for _, m := range p.earlier {
			if m.Role == llm.RoleUser {
				o.Written = append(o.Written, m.Text())
			}
		}
	}
	rule := links.New(o)
	r.Text, r.Value = rule.Clean(r.Text), rule.CleanValue(r.Value)
}

// share returns the time for the first model: two thirds of the total if there is a
// fallback model.
func (c *call) share(ctx context.Context) (context.Context, context.CancelFunc) {
	end, bounded := ctx.Deadline()
	if c.in.FallbackModel == "" || !bounded {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(end)*2/3)
}

// ask asks one model. If the model does not support the file of the contact, ask
// asks it again with a description of the file.
func (c *call) ask(ctx context.Context, ref string, p *prompt) (*flow.ModelResult, error) {
	m, name, err := c.model(ref)
	if err != nil {
		return nil, err
	}
	r, err := c.generate(ctx, m, c.request(ctx, name, p, true))
	var failed *llm.Error
	if len(p.files) > 0 && errors.As(err, &failed) && failed.Code == llm.CodeInvalid {
		r, err = c.generate(ctx, m, c.request(ctx, name, p, false))
	}
	return r, err
}

// generate calls a model and converts the response to a result.
func (c *call) generate(ctx context.Context, m llm.Model, r *llm.Request) (*flow.ModelResult, error) {
	if !c.in.JSON {
		res, err := m.Generate(ctx, r)
		if err != nil {
			return nil, err
		}
		return spoken(res)
	}
	schema, err := structured.Compile(c.in.Schema)
	if err != nil {
		return nil, &flow.Error{Code: "output.schema", Message: err.Error()}
	}
	a, err := structured.Generate(ctx, m, r, structured.Wanted{Schema: schema, Repair: c.in.Repair})
	var bad *structured.Misfit
	switch {
	case errors.As(err, &bad):
		return &flow.ModelResult{Finish: flow.FinishInvalid, StopReason: "invalid"}, nil
	case err != nil:
		return nil, err
	case a.Value == nil:
		return &flow.ModelResult{Finish: flow.FinishRefused, StopReason: string(llm.StopRefused)}, nil
	}
	return &flow.ModelResult{Finish: flow.FinishDone, Value: a.Value, Text: string(a.Raw), StopReason: string(a.Last.Stop)}, nil
}

// spoken converts a response to a text.
func spoken(res *llm.Response) (*flow.ModelResult, error) {
	r := &flow.ModelResult{Finish: flow.FinishDone, Text: res.Message.Text(), StopReason: string(res.Stop)}
	switch {
	case res.Stop == llm.StopRefused:
		r.Finish, r.Text = flow.FinishRefused, ""
	case r.Text == "" && res.Stop == llm.StopLength:
		return nil, &flow.Error{Code: "llm.too_short", Message: "The model used up maxOutputTokens before its answer began."}
	case r.Text == "":
		return nil, &llm.Error{Code: llm.CodeMalformed, Message: "the model returned an empty answer", Provider: res.Provider, Model: res.Model}
	}
	return r, nil
}

// place returns the place in which this call remembers.
func (c *call) place() memory.Place {
	chat := c.req.Run.Chat
	return memory.Place{
		Scope: memory.Scope(c.in.Memory.Scope), Run: c.req.Run.ID, Chat: memory.Chat{Reference: chat.Reference, ID: chat.ID}, Message: c.in.Message,
	}
}

// remember stores the question and the answer. It only logs errors: the answer is
// still worth sending.
func (c *call) remember(ctx context.Context, p *prompt, r *flow.ModelResult) {
	if c.s.opts.Memory == nil {
		return
	}
	question := llm.User(p.question)
	if p.named != "" {
		question = llm.User(p.named + "\n" + p.question)
	}
	err := c.s.opts.Memory.For(c.req.Run.Chat.Account).Remember(context.WithoutCancel(ctx), c.place(), c.req.Key, []llm.Message{question, llm.Assistant(r.Text)})
	if err != nil {
		c.s.opts.Logger.WarnContext(ctx, "an answer could not be remembered", "run", c.req.Run.ID, "error", err)
	}
}
