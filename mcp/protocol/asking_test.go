package protocol_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tools of the conformance suite that ask the client a question. On the newest
// revision a result names the questions, and the client answers by calling again.
// On older revisions the server would have to send a request, which it cannot do
// without sessions.

// elicit returns a question whose answer has one member.
func elicit(member, kind string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: "Please answer.", RequestedSchema: json.RawMessage(
		fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q}},"required":[%q]}`, member, kind, member))}
}

func sample() *sdk.CreateMessageParams { //nolint:staticcheck // sampling is deprecated, and still asked for
	return &sdk.CreateMessageParams{ //nolint:staticcheck // likewise
		Messages:  []*sdk.SamplingMessage{{Role: "user", Content: text("What is the capital of France?")}}, //nolint:staticcheck // likewise
		MaxTokens: 100,
	}
}

// accepted returns the member of an answer that the client's user gave.
func accepted(answers sdk.InputResponseMap, question, member string) any {
	answer, ok := answers[question].(*sdk.ElicitResult)
	if !ok || answer.Action != "accept" {
		return nil
	}
	return answer.Content[member]
}

// asked returns a result with open questions.
func asked(questions sdk.InputRequestMap, state string) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{InputRequests: questions, RequestState: state}, nil
}

func done(format string, args ...any) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{Content: []sdk.Content{text(fmt.Sprintf(format, args...))}}, nil
}

func extendAsking(server *sdk.Server) {
	ask := func(name string, handler func(*sdk.CallToolRequest, sdk.InputResponseMap) (*sdk.CallToolResult, error)) {
		tool(server, "test_input_required_result_"+name, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return handler(req, req.Params.InputResponses)
		})
	}
	ask("elicitation", func(_ *sdk.CallToolRequest, got sdk.InputResponseMap) (*sdk.CallToolResult, error) {
		if name, ok := accepted(got, "user_name", "name").(string); ok && name != "" {
			return done("Hello, %s!", name)
		}
		return asked(sdk.InputRequestMap{"user_name": elicit("name", "string")}, "")
	})
	ask("sampling", func(_ *sdk.CallToolRequest, got sdk.InputResponseMap) (*sdk.CallToolResult, error) {
		if got["question"] != nil {
			return done("Paris")
		}
		return asked(sdk.InputRequestMap{"question": sample()}, "")
	})
	ask("list_roots", func(_ *sdk.CallToolRequest, got sdk.InputResponseMap) (*sdk.CallToolResult, error) {
		if got["roots"] != nil {
			return done("thanks")
		}
		return asked(sdk.InputRequestMap{"roots": &sdk.ListRootsParams{}}, "") //nolint:staticcheck // deprecated, and still asked for
	})
	ask("multiple_inputs", func(_ *sdk.CallToolRequest, got sdk.InputResponseMap) (*sdk.CallToolResult, error) {
		if name, ok := accepted(got, "user_name", "name").(string); ok && got["question"] != nil && got["roots"] != nil {
			return done("Hello, %s!", name)
		}
		return asked(sdk.InputRequestMap{
			"user_name": elicit("name", "string"), "question": sample(), "roots": &sdk.ListRootsParams{}, //nolint:staticcheck // likewise
		}, "several")
	})
	ask("request_state", confirm)
	ask("tampered_state", confirm)
	ask("multi_round", rounds)
	ask("capabilities", capable)
	extendRefusing(server)
}

// confirm asks for a word, and requires the state that it returned.
func confirm(req *sdk.CallToolRequest, got sdk.InputResponseMap) (*sdk.CallToolResult, error) {
	const state = "given"
	if req.Params.RequestState != "" && req.Params.RequestState != state {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the state is not the one that was given"}
	}
	if accepted(got, "confirm", "ok") != nil && req.Params.RequestState == state {
		return done("state-ok")
	}
	return asked(sdk.InputRequestMap{"confirm": elicit("ok", "boolean")}, state)
}

// rounds asks twice and keeps the first answer in the state.
func rounds(req *sdk.CallToolRequest, got sdk.InputResponseMap) (*sdk.CallToolResult, error) {
	switch name, second := strings.CutPrefix(req.Params.RequestState, "second:"); {
	case req.Params.RequestState == "":
		return asked(sdk.InputRequestMap{"step1": elicit("name", "string")}, "first")
	case second:
		return done("%s likes %v", name, accepted(got, "step2", "color"))
	default:
		return asked(sdk.InputRequestMap{"step2": elicit("color", "string")}, fmt.Sprintf("second:%v", accepted(got, "step1", "name")))
	}
}

// capable asks only for what the client supports.
func capable(req *sdk.CallToolRequest, got sdk.InputResponseMap) (*sdk.CallToolResult, error) {
	questions := sdk.InputRequestMap{}
	if can := req.ClientCapabilities(); can != nil {
		if can.Elicitation != nil {
			questions["user_name"] = elicit("name", "string")
		}
		if can.Sampling != nil { //nolint:staticcheck // likewise
			questions["question"] = sample()
		}
	}
	if len(got) > 0 || len(questions) == 0 {
		return done("thanks")
	}
	return asked(questions, "")
}

// extendRefusing adds a tool that refuses clients without the required
// capabilities, and a prompt that asks.
func extendRefusing(server *sdk.Server) {
	tool(server, "test_missing_capability", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if can := req.ClientCapabilities(); can != nil && can.Sampling != nil { //nolint:staticcheck // likewise
			return done("it can")
		}
		return nil, &jsonrpc.Error{
			Code: sdk.CodeMissingRequiredClientCapabilities, Message: "sampling is required",
			Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
		}
	})
	server.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "Asks for its context."},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			if given := accepted(req.Params.InputResponses, "user_context", "context"); given != nil {
				return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: text(fmt.Sprintf("Context: %v", given))}}}, nil
			}
			return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": elicit("context", "string")}}, nil
		})
}
