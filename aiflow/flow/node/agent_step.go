package node

import (
	"maps"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// approvalTime is how long an agent waits for consent.
const approvalTime = 24 * time.Hour

// Step lets the agent begin.
func (c *agentConfig) Step(t *flow.Turn) (flow.Exit, error) {
	r, err := c.request(t)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(map[string]any{"model": c.Model, "input": r.Input}, nil)
	return c.call(t, r)
}

func (c *agentConfig) call(t *flow.Turn, r flow.ModelRequest) (flow.Exit, error) {
	return t.Call(flow.Call{Kind: flow.CallAgent, Timeout: c.Timeout, Request: r})
}

func (c *agentConfig) request(t *flow.Turn) (flow.ModelRequest, error) {
	r := flow.ModelRequest{Model: c.Model, Memory: c.Memory.asked(), Message: values.TextOf(t.State.Input["id"]), Attachments: t.State.Input["media"], Agent: &flow.AgentRequest{
		Servers: c.Servers, Tools: c.Tools, Functions: c.Functions, Approval: c.Approval, MaxSteps: c.MaxSteps,
		MaxToolCalls: c.MaxToolCalls, TokenBudget: c.TokenBudget, ToolTimeout: c.ToolTimeout, Converse: c.Converse,
		Outputs: slices.Sorted(maps.Keys(t.Node.Next)),
	}}
	c.Output.ask(&r)
	return r, prompt(t, &r, c.Instructions, c.Input)
}

// Resume takes the agent's answer, or lets it go on with what it asked for.
func (c *agentConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	switch in := in.(type) {
	case flow.EffectDone:
		return c.done(t, in)
	case flow.Reply:
		return c.goOn(t, func(r *flow.ModelRequest) { r.Input = values.TextOf(t.State.Input["text"]) })
	case flow.Approval:
		t.Note(map[string]any{"approved": in.Approved}, nil)
		return c.goOn(t, func(r *flow.ModelRequest) { r.Agent.Approved, r.Agent.ApprovedAt = &in.Approved, t.World.Now })
	}
	if t.WaitedFor.Kind == flow.WaitApproval {
		return flow.Out("denied"), nil
	}
	return flow.Exit{}, &flow.Error{Code: codeNoReply, Message: "the contact did not answer the agent"}
}

func (c *agentConfig) goOn(t *flow.Turn, change func(*flow.ModelRequest)) (flow.Exit, error) {
	r, err := c.request(t)
	if err != nil {
		return flow.Exit{}, err
	}
	r.Agent.Resume = t.WaitedFor.Data
	change(&r)
	return c.call(t, r)
}

func (c *agentConfig) done(t *flow.Turn, done flow.EffectDone) (flow.Exit, error) {
	if done.Err != nil {
		return flow.Exit{}, done.Err
	}
	r, err := flow.Result[flow.ModelResult](done)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, traced(&r, nil))
	kept, err := flow.Admit(r.Resume)
	if err != nil {
		return flow.Exit{}, err
	}
	switch r.Finish {
	case flow.FinishDone:
		return answerModel(t, r, c.Output.Mode, c.Send, c.SaveTo)
	case flow.FinishAsk:
		if !c.Converse {
			return flow.Exit{}, unexpected(r.Finish)
		}
		return c.ask(t, r.Text, kept)
	case flow.FinishApproval:
		return c.approve(t, r, kept)
	case flow.FinishInvalid:
		return flow.Out("invalid"), nil
	case flow.FinishLimit, flow.FinishDenied, flow.FinishHandoff:
		return flow.Out(string(r.Finish)), nil
	}
	return flow.Exit{}, unexpected(r.Finish)
}

// ask says what the agent asks and waits for the reply.
func (c *agentConfig) ask(t *flow.Turn, question string, kept any) (flow.Exit, error) {
	if err := speak(t, question); err != nil {
		return flow.Exit{}, err
	}
	w := flow.Wait{Kind: flow.WaitReply, Data: kept}
	if d := t.Graph().ReplyTimeout; d > 0 {
		w.Until = t.World.Now.Add(d)
		w.Timer = t.SetTimer(w.Until)
	}
	return t.Wait(w), nil
}

// approve shows a tool call and waits for consent.
func (c *agentConfig) approve(t *flow.Turn, r flow.ModelResult, kept any) (flow.Exit, error) {
	arguments, err := flow.Admit(r.Arguments)
	if err != nil {
		return flow.Exit{}, err
	}
	ask := flow.Ask{Node: t.Node.Id, Tool: r.Tool, Arguments: arguments}
	err = t.Emit(func(id string) flow.Effect { ask.ID = id; return ask })
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, traced(&r, map[string]any{"stepId": ask.ID, "tool": r.Tool, "arguments": arguments}))
	until := t.World.Now.Add(approvalTime)
	return t.Wait(flow.Wait{Kind: flow.WaitApproval, ID: ask.ID, Timer: t.SetTimer(until), Until: until, Data: kept}), nil
}
