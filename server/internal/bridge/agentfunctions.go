package bridge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// functionPrefix begins the names by which models know functions of a project.
const functionPrefix = "fn_"

// functionTools returns the functions of the project that a node names, as they were
// published with its flow. Each is a run of its own, without a chat. What they do
// to the world is read from their nodes, each time.
func (s *AgentTools) functionTools(ctx context.Context, scope agent.Scope, r *flow.AgentRequest) ([]llm.Tool, error) {
	if len(r.Functions) == 0 {
		return nil, nil
	}
	src, err := s.Flows.Source(ctx, scope.Run.Chat.Account, scope.Run.Owner, scope.Run.Version)
	if errors.Is(err, aiflow.ErrNotFound) {
		return nil, nil // the flow was deleted
	}
	if err != nil {
		return nil, err
	}
	var out []llm.Tool
	for _, f := range src.Functions {
		if !slices.Contains(r.Functions, f.Slug) {
			continue
		}
		schema, err := argumentSchema(f.Args)
		if err != nil {
			return nil, fmt.Errorf("describing the arguments of %s: %w", f.Slug, err)
		}
		about := f.Description
		about = cmp.Or(about, f.Name)
		reach, source := f.Reach(src.Functions), "function/"+f.Slug
		home := ""
		if reach.Fixed {
			home = source
		}
		name := functionPrefix + strings.ReplaceAll(f.Slug, "-", "_")
		out = append(out, llm.Tool{
			ToolSpec: llm.ToolSpec{Name: name[:min(len(name), 64)], Description: about, Schema: schema}, Origin: f.Slug,
			Idempotent: true, // a call that is repeated finds the run of the first
			Leaves:     reach.Leaves, Private: reach.Private, Untrusted: reach.Foreign, Source: source, Home: home,
			Call: s.callFunction(scope.Run, runtime.Source{Document: f, Functions: src.Functions}),
		})
	}
	return out, nil
}

// argumentSchema is a JSON Schema of the arguments of a function.
func argumentSchema(args map[string]flow.Typed) (json.RawMessage, error) {
	properties, required := map[string]any{}, []string{}
	for name, a := range args {
		p := map[string]any{}
		switch a.Type {
		case "list":
			p["type"] = "array"
		case "date":
			p["type"], p["format"] = "string", "date"
		case "datetime":
			p["type"], p["format"] = "string", "date-time"
		case "any":
		default:
			p["type"] = a.Type
		}
		if a.Description != "" {
			p["description"] = a.Description
		}
		properties[name] = p
		if a.Required {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	return json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

// callFunction runs a function and waits for its end.
func (s *AgentTools) callFunction(by runtime.Run, src runtime.Source) func(context.Context, llm.ToolRun) (llm.ToolOutput, error) {
	return func(ctx context.Context, r llm.ToolRun) (llm.ToolOutput, error) {
		d := json.NewDecoder(bytes.NewReader(r.Arguments))
		d.UseNumber()
		var args map[string]any
		if err := d.Decode(&args); err != nil {
			return llm.ToolOutput{}, fmt.Errorf("reading arguments: %w", err)
		}
		runs := s.Runs.For(by.Chat.Account)
		run, err := runs.Start(ctx, runtime.Start{
			ID: agent.Child(r.Key), Engine: by.Engine, Owner: by.Owner, Version: by.Version, Parent: by.ID, Source: src, Args: args,
			Chat: runtime.Chat{Reference: by.Chat.Reference},
		})
		if bad, ok := errors.AsType[*runtime.BadInput](err); ok {
			return llm.ToolOutput{}, &llm.ToolError{Code: "call.args", Message: bad.Error()}
		}
		if err != nil {
			return llm.ToolOutput{}, err
		}
		if run, err = s.ended(ctx, runs, run.ID); err != nil {
			return llm.ToolOutput{}, err
		}
		if run.Error != nil {
			return llm.ToolOutput{}, &llm.ToolError{Code: run.Error.Code, Message: run.Error.Message}
		}
		return llm.ToolOutput{Content: string(run.Output), Value: run.Output}, nil
	}
}

// cancelTimeout is how long it may take to end a run that took too long.
const cancelTimeout = 5 * time.Second

// ended waits for the end of a run. A run that is not over in time is cancelled.
// When this node stops, another node waits for it.
func (s *AgentTools) ended(ctx context.Context, runs *runtime.Account, id string) (runtime.Run, error) {
	news, err := runs.Watch(ctx, id)
	if err != nil {
		return runtime.Run{}, err
	}
	for run := range news {
		if !run.EndedAt.IsZero() {
			return run, nil
		}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		late, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
		defer stop()
		if _, err := runs.Cancel(late, id, "the agent that called it waits no longer"); err != nil && !errors.Is(err, runtime.ErrEnded) {
			s.Log.WarnContext(ctx, "a function that an agent called goes on", "run", id, "error", err)
		}
		return runtime.Run{}, ctx.Err()
	}
	if ctx.Err() != nil {
		return runtime.Run{}, ctx.Err()
	}
	return runtime.Run{}, &llm.ToolError{Code: "function.gone", Message: "its run was erased."}
}
