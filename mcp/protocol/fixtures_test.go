package protocol_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/mcp"
)

// Functions of the registry that the conformance suite calls. They pass the whole
// chain.

type nothing struct{}

type said struct {
	Text string `json:"text"`
}

func registerFixtures(t testing.TB, r *mcp.Registry) {
	t.Helper()
	say := func(name, text string) {
		require.NoError(t, mcp.Register(r, mcp.Function[nothing, said]{
			Name: name, Description: "Says what it is for.", ReadOnly: true,
			Handler: func(context.Context, mcp.Call, nothing) (said, error) { return said{text}, nil },
		}))
	}
	say("test_simple_text", "This is a simple text response for testing.")
	say("test_streaming_elicitation", "There is nothing to ask.")
	require.NoError(t, mcp.Register(r, mcp.Function[nothing, said]{
		Name: "test_error_handling", Description: "Fails.",
		Handler: func(context.Context, mcp.Call, nothing) (said, error) {
			return said{}, errors.New("this tool intentionally returns an error for testing")
		},
	}))
	require.NoError(t, mcp.Register(r, mcp.Function[nothing, said]{
		Name: "test_tool_with_progress", Description: "Says how far it is.",
		Handler: func(_ context.Context, c mcp.Call, _ nothing) (said, error) {
			for _, done := range []float64{0, 50, 100} {
				c.Progress(done, 100, "working")
			}
			return said{"done"}, nil
		},
	}))
	for name, schema := range map[string]string{
		"test_x_mcp_header": `{"type":"object","properties":{
			"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`,
		"json_schema_2020_12_tool": `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
			"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
			"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
				"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
			"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
			"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
			"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`,
	} {
		require.NoError(t, mcp.Register(r, mcp.Function[json.RawMessage, said]{
			Name: name, Description: "Has a schema of its own.", Schema: json.RawMessage(schema),
			Handler: func(_ context.Context, _ mcp.Call, in json.RawMessage) (said, error) { return said{string(in)}, nil },
		}))
	}
}

// Fixtures that cannot be functions: content other than text, and questions to the
// client.

var (
	pixel, _       = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
	silentAudio, _ = base64.StdEncoding.DecodeString("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")

	image    = &sdk.ImageContent{Data: pixel, MIMEType: "image/png"}
	audio    = &sdk.AudioContent{Data: silentAudio, MIMEType: "audio/wav"}
	embedded = &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "test://embedded-resource", MIMEType: "text/plain", Text: "An embedded resource."}}
)

// extendFixtures adds the fixtures that are not functions to the SDK's server.
func extendFixtures(server *sdk.Server) {
	for name, content := range map[string][]sdk.Content{
		"test_image_content":          {image},
		"test_audio_content":          {audio},
		"test_embedded_resource":      {embedded},
		"test_multiple_content_types": {text("Several kinds."), image, embedded},
	} {
		tool(server, name, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: content}, nil
		})
	}
	extendTalkative(server)
	extendAsking(server)
	extendPrompts(server)
	extendResources(server)
}

func text(s string) *sdk.TextContent { return &sdk.TextContent{Text: s} }

func tool(server *sdk.Server, name string, handler sdk.ToolHandler) {
	server.AddTool(&sdk.Tool{Name: name, Description: "For the conformance suite.", InputSchema: json.RawMessage(`{"type":"object"}`)}, handler)
}

// extendTalkative adds tools that log, and tools that change a list.
func extendTalkative(server *sdk.Server) {
	log := func(lines ...string) sdk.ToolHandler {
		return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for _, line := range lines {
				//nolint:staticcheck // logging is deprecated, and still asked for
				_ = req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: line})
			}
			return &sdk.CallToolResult{Content: []sdk.Content{text("logged")}}, nil
		}
	}
	tool(server, "test_tool_with_logging", log("started", "working", "completed"))
	tool(server, "test_logging_tool", log("executed"))
	tool(server, "test_trigger_tool_change", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		tool(server, "transient", log())
		return &sdk.CallToolResult{Content: []sdk.Content{text("changed")}}, nil
	})
	tool(server, "test_trigger_prompt_change", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		prompt(server, "transient", nil, text("A prompt."))
		return &sdk.CallToolResult{Content: []sdk.Content{text("changed")}}, nil
	})
}

func prompt(server *sdk.Server, name string, arguments []*sdk.PromptArgument, contents ...sdk.Content) {
	server.AddPrompt(&sdk.Prompt{Name: name, Description: "For the conformance suite.", Arguments: arguments},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			res := &sdk.GetPromptResult{}
			for _, c := range contents {
				if e, ok := c.(*sdk.EmbeddedResource); ok {
					c = &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: req.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: e.Resource.Text}}
				}
				if len(req.Params.Arguments) == 2 {
					c = text("arg1='" + req.Params.Arguments["arg1"] + "', arg2='" + req.Params.Arguments["arg2"] + "'")
				}
				res.Messages = append(res.Messages, &sdk.PromptMessage{Role: "user", Content: c})
			}
			return res, nil
		})
}

func extendPrompts(server *sdk.Server) {
	needs := func(names ...string) (all []*sdk.PromptArgument) {
		for _, n := range names {
			all = append(all, &sdk.PromptArgument{Name: n, Description: "Any text.", Required: true})
		}
		return all
	}
	prompt(server, "test_simple_prompt", nil, text("This is a simple prompt for testing."))
	prompt(server, "test_prompt_with_arguments", needs("arg1", "arg2"), text("both"))
	prompt(server, "test_prompt_with_embedded_resource", needs("resourceUri"), embedded, text("Read it."))
	prompt(server, "test_prompt_with_image", nil, image, text("Look at it."))
}

func extendResources(server *sdk.Server) {
	resource := func(uri string, contents sdk.ResourceContents) {
		contents.URI = uri
		server.AddResource(&sdk.Resource{URI: uri, Name: uri, MIMEType: contents.MIMEType},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				c := contents
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&c}}, nil
			})
	}
	resource("test://static-text", sdk.ResourceContents{MIMEType: "text/plain", Text: "This is the content of the static text resource."})
	resource("test://static-binary", sdk.ResourceContents{MIMEType: "image/png", Blob: pixel})
	resource("test://watched-resource", sdk.ResourceContents{MIMEType: "text/plain", Text: "Watched."})
	server.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json"},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{
				URI: req.Params.URI, MIMEType: "application/json", Text: `{"id":"123","templateTest":true,"data":"Data for ID: 123"}`,
			}}}, nil
		})
}
