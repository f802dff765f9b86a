package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/api/functions"
)

// callerFor returns who calls functions for a version of a flow: its publisher,
// with the rights and the e-mail of now. A publisher who is gone or disabled has
// no rights.
func (s *AgentTools) callerFor(ctx context.Context, account, flow string, version int64) (c mcp.Caller, email string, err error) {
	by, err := s.Flows.For(account).Versions().Publisher(ctx, flow, version)
	if errors.Is(err, aiflow.ErrNotFound) {
		return mcp.Caller{Account: account}, "", nil
	}
	if err != nil {
		return mcp.Caller{}, "", err
	}
	user, err := s.Auth.Users().Get(ctx, account, by.User)
	if errors.Is(err, auth.ErrNotFound) {
		return mcp.Caller{Account: account, User: by.User}, "", nil
	}
	if err != nil {
		return mcp.Caller{}, "", err
	}
	rights := user.Permissions
	if user.Disabled {
		rights = nil
	}
	if by.Permissions != nil { // it was a token with some of them
		scope := make([]auth.Permission, len(by.Permissions))
		for i, p := range by.Permissions {
			scope[i] = auth.Permission(p)
		}
		rights = auth.Effective(rights, scope)
	}
	return functions.CallerOf(auth.Caller{Account: account, User: user.ID, Permissions: rights}), user.Email, nil
}

// The arguments of functions that an agent does not choose: its run does.
const (
	argumentReference = "reference"
	argumentChat      = "chatId"
)

// registryTools are the functions of the registry that a node names and that the
// publisher of its flow may call now.
func (s *AgentTools) registryTools(ctx context.Context, scope agent.Scope, r *flow.AgentRequest) ([]llm.Tool, error) {
	run := scope.Run
	caller, _, err := s.callerFor(ctx, run.Chat.Account, run.Owner, run.Version)
	if err != nil {
		return nil, err
	}
	var out []llm.Tool
	for _, t := range s.MCP().Tools() {
		if !namesTool(r, t.Name) || !s.MCP().Allowed(caller, t.Name) {
			continue
		}
		schema, set, err := scoped(t.Input, run.Chat)
		if err != nil {
			return nil, fmt.Errorf("reading the arguments of %s: %w", t.Name, err)
		}
		if schema == nil {
			continue // it is about a chat, and there is none
		}
		_, inChat := set[argumentChat]
		tool := llm.Tool{
			ToolSpec: llm.ToolSpec{Name: t.Name, Description: t.Description, Schema: schema}, Origin: t.Name,
			ReadOnly: t.ReadOnly, Idempotent: t.Idempotent, Destructive: t.Destructive, OpenWorld: !t.ReadOnly && !inChat,
			Call: s.callRegistry(run, t.Name, set),
		}
		reachOf(&tool, inChat)
		out = append(out, tool)
	}
	return out, nil
}

// ownFunctions is where the arguments of an embedding program's functions go.
const ownFunctions = "own functions"

// reachOf notes what a function of the registry reads, and where its arguments
// go. Neither is known of the functions of an embedding program.
func reachOf(t *llm.Tool, inChat bool) {
	t.Says = inChat && !t.ReadOnly
	switch t.Name {
	case "toggle_bot", "mark_read", "set_bot_active": // they take no texts
	case "get_chat_history":
		t.Private, t.Shared, t.Untrusted, t.Source = true, inChat, true, "chat"
	case "get_variables": // the contact need not know what they hold
		t.Private, t.Untrusted, t.Source = true, true, "chat"
	case "list_chats":
		t.Private, t.Others, t.Untrusted, t.Source = true, true, true, "chats"
	case "list_references", "get_reference_status", "list_templates":
		t.Private, t.Untrusted, t.Source = true, true, "account"
	case "send_message": // to the run's own contact, as answers go
	case "set_variable": // flows and webhooks read it
		t.Leaves = true
	default:
		t.Leaves, t.Private, t.Untrusted, t.Shared, t.Source = true, true, t.ReadOnly || t.Name == "run_flow", inChat && t.ReadOnly, ownFunctions
		if t.ReadOnly {
			t.Home = ownFunctions
		}
	}
}

// scoped is a schema of arguments without those that the run sets, and these;
// nil: the run lacks one that is required.
func scoped(input json.RawMessage, chat runtime.Chat) (json.RawMessage, map[string]any, error) {
	var schema map[string]json.RawMessage
	var properties map[string]json.RawMessage
	var required []string
	if err := json.Unmarshal(input, &schema); err != nil {
		return nil, nil, err
	}
	for part, to := range map[string]any{"properties": &properties, "required": &required} {
		if raw := schema[part]; raw != nil {
			if err := json.Unmarshal(raw, to); err != nil {
				return nil, nil, err
			}
		}
	}
	set := map[string]any{}
	for name, v := range map[string]any{argumentReference: chat.Reference, argumentChat: chat.ID} {
		if _, is := properties[name]; !is {
			continue
		}
		delete(properties, name)
		needed := slices.Contains(required, name)
		required = slices.DeleteFunc(required, func(r string) bool { return r == name })
		if v == int64(0) || v == "" {
			if needed {
				return nil, nil, nil
			}
			continue
		}
		set[name] = v
	}
	for part, v := range map[string]any{"properties": properties, "required": required} {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, nil, err
		}
		if schema[part] != nil {
			schema[part] = raw
		}
	}
	out, err := json.Marshal(schema)
	return out, set, err
}

// child is the run that a call of an agent begins. Agents in it are known by its
// id to be in that one. The zero value: no agent is calling.
type child struct{ id, parent string }

type childKey struct{}

func childOf(ctx context.Context) child {
	c, _ := ctx.Value(childKey{}).(child)
	return c
}

// callRegistry calls a function with what the run sets, and with the rights that the
// publisher has then: the checks, limits and audit of every caller apply. The log
// of the account names the run as the actor.
func (s *AgentTools) callRegistry(run runtime.Run, function string, set map[string]any) func(context.Context, llm.ToolRun) (llm.ToolOutput, error) {
	return func(ctx context.Context, r llm.ToolRun) (llm.ToolOutput, error) {
		caller, email, err := s.callerFor(ctx, run.Chat.Account, run.Owner, run.Version)
		if err != nil {
			return llm.ToolOutput{}, err
		}
		var arguments map[string]json.RawMessage
		if err := json.Unmarshal(r.Arguments, &arguments); err != nil {
			return llm.ToolOutput{}, fmt.Errorf("reading arguments: %w", err)
		}
		all := map[string]any{}
		for name, v := range arguments {
			if name != argumentReference && name != argumentChat {
				all[name] = v
			}
		}
		maps.Copy(all, set)
		raw, err := json.Marshal(all)
		if err != nil {
			return llm.ToolOutput{}, fmt.Errorf("writing arguments: %w", err)
		}
		ctx = context.WithValue(ctx, childKey{}, child{agent.Child(r.Key), run.ID})
		by := audit.Actor{Account: caller.Account, Kind: audit.Agent, User: caller.User, Email: email, Run: run.ID}
		ctx = audit.As(audit.With(ctx, s.Audit, audit.Origin{}), by)
		out := s.MCP().Execute(ctx, caller, mcp.Request{Function: function, Arguments: raw})
		if out.Error != nil {
			return llm.ToolOutput{}, &llm.ToolError{Code: out.Error.Code, Message: refusalText(out.Error)}
		}
		return llm.ToolOutput{Content: string(out.Result), Value: out.Result}, nil
	}
}

// refusalText returns an error of a function as a sentence for a model.
func refusalText(e *mcp.Error) string {
	var b strings.Builder
	b.WriteString(e.Message)
	for _, d := range e.Details {
		b.WriteString("; " + d.Argument + " " + d.Message)
	}
	return b.String()
}
