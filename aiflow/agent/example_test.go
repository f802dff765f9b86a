package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/mock"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/sqldb"
)

// orderStatus is a tool that the agent may use.
var orderStatus = llm.Tool{
	ToolSpec: llm.ToolSpec{
		Name: "order_status", Description: "Says where an order is.",
		Schema: json.RawMessage(`{"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}`),
	},
	Origin: "order_status", ReadOnly: true,
	Call: func(_ context.Context, c llm.ToolRun) (llm.ToolOutput, error) {
		fmt.Println("called with", string(c.Arguments))
		return llm.ToolOutput{Content: `{"state": "on its way"}`}, nil
	},
}

// An agent node of a flow has a model call a tool, and answers with what it
// found.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	check(err)
	defer db.Close() //nolint:errcheck // nothing is written any more

	models, err := llm.NewModels(map[string]llm.Model{"mock": mock.New()}) // or openai, anthropic
	check(err)
	ledger, err := usage.New(ctx, db, nil)
	check(err)
	agents, err := agent.New(ctx, db, models, ledger, &agent.Options{
		Tools: func(context.Context, agent.Scope, *flow.AgentRequest) ([]llm.Tool, error) {
			return []llm.Tool{orderStatus}, nil
		},
	})
	check(err)
	runs, err := runtime.New(ctx, db, nil, &runtime.Options{Callers: map[flow.CallKind]runtime.Caller{flow.CallAgent: agents.Act}})
	check(err)
	stopped := make(chan error)
	go func() { stopped <- runs.Run(ctx) }()

	clerk, _ := flow.Decode([]byte(`{
		"format": "trunkline-flow/1", "kind": "flow", "slug": "clerk", "name": "Clerk", "start": "begin",
		"variables": {"answer": {"type": "string"}},
		"nodes": {
			"begin": {"type": "trigger", "config": {"on": [{"kind": "api"}]}, "next": {"out": "agent"}},
			"agent": {"type": "agent", "config": {
				"model": "mock/assistant", "instructions": "Help.", "tools": ["order_status"], "saveTo": "answer", "send": false
			}, "next": {"out": "end"}},
			"end": {"type": "end", "config": {"result": "{{ vars.answer }}"}}
		}
	}`))
	run, err := runs.For(usage.OneAccount).Start(ctx, runtime.Start{
		Engine: "mine", Source: runtime.Source{Document: clerk}, Input: map[string]any{"text": "Where is my order A-17?"}, Wait: time.Minute,
	})
	check(err)
	fmt.Println(run.Status, string(run.Output))
	done, err := agents.For(usage.OneAccount).Entries(ctx, run.ID, "agent")
	check(err)
	for _, e := range done {
		fmt.Println(e.Seq, e.Kind, e.Status)
	}
	stop()
	check(<-stopped)
	// Output:
	// called with {"order":"A-17"}
	// completed "Here is what I found: state: on its way"
	// 1 turn done
	// 2 tool done
	// 3 turn done
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
