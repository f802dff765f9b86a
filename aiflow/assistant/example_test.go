package assistant_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/assistant"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/mock"
	"github.com/trunklinehq/trunkline/sqldb"
)

// An assistant node of a flow answers a question.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	check(err)
	defer db.Close() //nolint:errcheck // nothing is written any more

	models, err := llm.NewModels(map[string]llm.Model{"mock": mock.New()}) // or openai, anthropic
	check(err)
	helper, err := assistant.New(models, nil)
	check(err)
	runs, err := runtime.New(ctx, db, nil, &runtime.Options{Callers: map[flow.CallKind]runtime.Caller{flow.CallAssistant: helper.Answer}})
	check(err)
	stopped := make(chan error)
	go func() { stopped <- runs.Run(ctx) }()

	hours, _ := flow.Decode([]byte(`{
		"format": "trunkline-flow/1", "kind": "flow", "slug": "hours", "name": "Hours", "start": "begin",
		"variables": {"answer": {"type": "string"}},
		"nodes": {
			"begin": {"type": "trigger", "config": {"on": [{"kind": "api"}]}, "next": {"out": "answer"}},
			"answer": {"type": "assistant", "config": {
				"model": "mock/assistant", "instructions": "We sell flowers. The shop is open from nine to six.", "saveTo": "answer", "send": false
			}, "next": {"out": "end"}},
			"end": {"type": "end", "config": {"result": "{{ vars.answer }}"}}
		}
	}`))
	run, err := runs.For("shop").Start(ctx, runtime.Start{
		Engine: "mine", Source: runtime.Source{Document: hours}, Input: map[string]any{"text": "When is the shop open?"}, Wait: time.Minute,
	})
	check(err)
	fmt.Println(run.Status, string(run.Output))
	stop()
	check(<-stopped)
	// Output: completed "The shop is open from nine to six."
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
