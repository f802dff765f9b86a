package flow

import (
	"maps"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// approvalTime is how long an agent waits for consent.
const approvalTime = 24 * time.Hour

// Step lets the agent begin.
func (c *agentConfig) Step(t *Turn) (Exit, error) {
	r, err := c.request(t)
	if err != nil {
		return Exit{}, err
	}
	t.Note(map[string]any{"model": c.Model, "input": r.Input}, nil)
	return c.call(t, r)
}

func (c *agentConfig) call(t *Turn, r ModelRequest) (Exit, error) {
	return t.call(Call{Kind: CallAgent, Timeout: c.Timeout, Request: r})
}

func (c *agentConfig) request(t *Turn) (ModelRequest, error) {
	r := ModelRequest{Model: c.Model, Memory: c.Memory.asked(), Message: values.TextOf(t.State.Input["id"]), Attachments: t.State.Input["media"], Agent: &AgentRequest{
		Servers: c.Servers, Tools: c.Tools, Functions: c.Functions, Approval: c.Approval, MaxSteps: c.MaxSteps,
		MaxToolCalls: c.MaxToolCalls, TokenBudget: c.TokenBudget, ToolTimeout: c.ToolTimeout, Converse: c.Converse,
		Outputs: slices.Sorted(maps.Keys(t.node.next)),
	}}
	c.Output.ask(&r)
	return r, prompt(t, &r, c.Instructions, c.Input)
}

// Resume takes the agent's answer, or lets it go on with what it asked for.
func (c *agentConfig) Resume(t *Turn, in Input) (Exit, error) {
	switch in := in.(type) {
	case EffectDone:
		return c.done(t, in)
	case Reply:
		return c.goOn(t, func(r *ModelRequest) { r.Input = values.TextOf(t.State.Input["text"]) })
	case Approval:
		t.Note(map[string]any{"approved": in.Approved}, nil)
		return c.goOn(t, func(r *ModelRequest) { r.Agent.Approved, r.Agent.ApprovedAt = &in.Approved, t.world.Now })
	}
	if t.waited.Kind == WaitApproval {
		return Out("denied"), nil
	}
	return Exit{}, &Error{Code: codeNoReply, Message: "the contact did not answer the agent"}
}

func (c *agentConfig) goOn(t *Turn, change func(*ModelRequest)) (Exit, error) {
	r, err := c.request(t)
	if err != nil {
		return Exit{}, err
	}
	r.Agent.Resume = t.waited.Data
	change(&r)
	return c.call(t, r)
}

func (c *agentConfig) done(t *Turn, done EffectDone) (Exit, error) {
	if done.Err != nil {
		return Exit{}, done.Err
	}
	r, err := result[ModelResult](done)
	if err != nil {
		return Exit{}, err
	}
	t.Note(nil, traced(&r, nil))
	kept, err := admit(r.Resume)
	if err != nil {
		return Exit{}, err
	}
	switch r.Finish {
	case FinishDone:
		return answerModel(t, r, c.Output.Mode, c.Send, c.SaveTo)
	case FinishAsk:
		if !c.Converse {
			return Exit{}, unexpected(r.Finish)
		}
		return c.ask(t, r.Text, kept)
	case FinishApproval:
		return c.approve(t, r, kept)
	case FinishInvalid:
		return Out("invalid"), nil
	case FinishLimit, FinishDenied, FinishHandoff:
		return Out(string(r.Finish)), nil
	}
	return Exit{}, unexpected(r.Finish)
}

// ask says what the agent asks and waits for the reply.
func (c *agentConfig) ask(t *Turn, question string, kept any) (Exit, error) {
	if err := speak(t, question); err != nil {
		return Exit{}, err
	}
	w := Wait{Kind: WaitReply, Data: kept}
	if d := t.graph().replyTimeout; d > 0 {
		w.Until = t.world.Now.Add(d)
		w.Timer = t.SetTimer(w.Until)
	}
	return t.Wait(w), nil
}

// approve shows a tool call and waits for consent.
func (c *agentConfig) approve(t *Turn, r ModelResult, kept any) (Exit, error) {
	arguments, err := admit(r.Arguments)
	if err != nil {
		return Exit{}, err
	}
	ask := Ask{Node: t.node.id, Tool: r.Tool, Arguments: arguments}
	err = t.Emit(func(id string) Effect { ask.ID = id; return ask })
	if err != nil {
		return Exit{}, err
	}
	t.Note(nil, traced(&r, map[string]any{"stepId": ask.ID, "tool": r.Tool, "arguments": arguments}))
	until := t.world.Now.Add(approvalTime)
	return t.Wait(Wait{Kind: WaitApproval, ID: ask.ID, Timer: t.SetTimer(until), Until: until, Data: kept}), nil
}
