package llmtest_test

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/openai"
)

// A model over HTTP is asked twice: it wants a tool called, and then answers.
func ExampleNewServer() {
	server := llmtest.NewServer(
		llmtest.Call(llm.ToolCall{ID: "1", Name: "order_status", Arguments: `{"order":"A-17"}`}),
		llmtest.Say("It is on its way."),
	)
	defer server.Close()
	model, err := openai.New(&openai.Options{BaseURL: server.OpenAI()})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := &llm.Request{Model: "any", Messages: []llm.Message{llm.User("Where is A-17?")}}
	for range 2 {
		answer, err := model.Generate(context.Background(), r)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %q\n", answer.Stop, answer.Message.Text())
		r.Messages = append(r.Messages, answer.Message)
		for _, c := range answer.Message.Calls {
			fmt.Println(c.Name, c.Arguments)
			r.Messages = append(r.Messages, llm.Message{Role: llm.RoleTool, Results: []llm.ToolResult{{CallID: c.ID, Content: "on its way"}}})
		}
	}
	fmt.Println(server.Count().Requests, server.Done())
	// Output:
	// tools: ""
	// order_status {"order":"A-17"}
	// done: "It is on its way."
	// 2 <nil>
}

func ExampleNewScript() {
	model := llmtest.NewScript(llmtest.Say("Hello."), llmtest.Fail(&llm.Error{Code: llm.CodeUnavailable, Message: "it is out of order"}))
	for range 2 {
		answer, err := model.Generate(context.Background(), &llm.Request{Model: "any", Messages: []llm.Message{llm.User("Hi")}})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(answer.Message.Text(), answer.Usage.Output)
	}
	// Output:
	// Hello. 2
	// llm.unavailable: it is out of order
}
