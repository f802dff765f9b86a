package protocol_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/protocol"
)

// TestResources checks that reading a resource calls its function.
func TestResources(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	address := serve(t, s.Registry, s.opts)
	session := connect(t, address, everything, nil)
	templates, err := session.ListResourceTemplates(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, templates.ResourceTemplates, 1)
	require.Equal(t, "application/json", templates.ResourceTemplates[0].MIMEType)
	none, err := session.ListResources(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none.Resources)

	for _, uri := range []string{"shop://order/9007199254740993/of/ana@sandbox", "shop://order/9007199254740993/of/ana%40sandbox"} {
		read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		require.NoError(t, err)
		require.Equal(t, "private", read.CacheScope)
		require.JSONEq(t, `{"reference":9007199254740993,"id":"ana@sandbox","state":"sent"}`, read.Contents[0].Text)
	}
	for uri, says := range map[string]string{
		"shop://order/1/of/nobody":                     "not found",
		"shop://order/1":                               "not found",
		"shop://order/1/of/ana/more":                   "not found",
		"shop://order/many/of/ana":                     "argument",
		"shop://order/1.5/of/ana":                      "argument",
		"shop://order/1/of/" + strings.Repeat("x", 41): "argument",
	} {
		_, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		e := refused(t, err, jsonrpc.CodeInvalidParams)
		require.Contains(t, strings.ToLower(e.Message), says, uri)
	}
}

// TestPrompts checks that a prompt includes its resource.
func TestPrompts(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	session := connect(t, serve(t, s.Registry, s.opts), everything, nil)
	got, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "chase", Arguments: map[string]string{"reference": "7", "id": "ana"}})
	require.NoError(t, err)
	require.Len(t, got.Messages, 2)
	require.Equal(t, "Remind them of order 7. Tone: ", got.Messages[0].Content.(*sdk.TextContent).Text)
	require.JSONEq(t, `{"reference":7,"id":"ana","state":"sent"}`, got.Messages[1].Content.(*sdk.EmbeddedResource).Resource.Text)

	_, err = session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "chase", Arguments: map[string]string{"id": "ana"}})
	require.Contains(t, refused(t, err, jsonrpc.CodeInvalidParams).Message, `"reference"`)
	_, err = session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "chase", Arguments: map[string]string{"id": "nobody", "reference": "7"}})
	refused(t, err, jsonrpc.CodeInvalidParams)
}

// TestCompletion checks the proposals for a person who fills in an argument.
func TestCompletion(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	address := serve(t, s.Registry, s.opts)
	prompt, resource := &sdk.CompleteReference{Type: "ref/prompt", Name: "chase"}, &sdk.CompleteReference{Type: "ref/resource", URI: s.opts.Resources[0].Template}
	for name, tc := range map[string]struct {
		token  string
		params sdk.CompleteParams
		want   []string
		total  int
	}{
		"beginning": {
			params: sdk.CompleteParams{Ref: prompt, Argument: sdk.CompleteParamsArgument{Name: "reference", Value: "14"}},
			want:   []string{"14", "140", "141", "142", "143", "144", "145", "146", "147", "148", "149"}, total: 11,
		},
		"search by what was chosen before": {
			params: sdk.CompleteParams{
				Ref: resource, Argument: sdk.CompleteParamsArgument{Name: "id", Value: "?"},
				Context: &sdk.CompleteContext{Arguments: map[string]string{"owner": "ben", "other": "x"}},
			},
			want: []string{"ben?", "ben?"}, total: 2,
		},
		"a function that fails": {
			token: "may-nothing", params: sdk.CompleteParams{Ref: prompt, Argument: sdk.CompleteParamsArgument{Name: "reference"}}, want: []string{},
		},
		"nothing to propose": {
			params: sdk.CompleteParams{Ref: prompt, Argument: sdk.CompleteParamsArgument{Name: "tone"}}, want: []string{},
		},
		"unknown": {
			params: sdk.CompleteParams{
				Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: "no_such"}, Argument: sdk.CompleteParamsArgument{Name: "reference"},
			},
			want: []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.token == "" {
				tc.token = reader
			}
			got, err := connect(t, address, tc.token, nil).Complete(t.Context(), &tc.params)
			require.NoError(t, err)
			require.Equal(t, sdk.CompletionResultDetails{Values: tc.want, Total: tc.total}, got.Completion)
		})
	}

	all, err := connect(t, address, reader, nil).Complete(t.Context(), &sdk.CompleteParams{
		Ref: prompt, Argument: sdk.CompleteParamsArgument{Name: "reference"},
	})
	require.NoError(t, err)
	require.Len(t, all.Completion.Values, 100)
	require.Equal(t, 150, all.Completion.Total)
	require.True(t, all.Completion.HasMore)
}

// TestRefusedOptions checks that invalid options are refused at once.
func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(*shop){
		"Options.Authenticate is missing": func(s *shop) { s.opts.Authenticate = nil },
		"Options.BaseURL must be":         func(s *shop) { s.opts.BaseURL = "chat.example.com" },
		`resource "x": "plain" is no`:     func(s *shop) { s.opts.Resources = []protocol.Resource{{Name: "x", Template: "plain"}} },
		"variables are written as {name}": func(s *shop) { s.opts.Resources = []protocol.Resource{{Name: "x", Template: "shop://order/{+id}"}} },
		`there is no function "lost"`: func(s *shop) {
			s.opts.Resources = []protocol.Resource{{Name: "x", Template: "shop://{id}", Function: "lost"}}
		},
		`order_state has no argument "name"`: func(s *shop) {
			s.opts.Resources = []protocol.Resource{{Name: "x", Template: "shop://{name}", Function: "order_state"}}
		},
		`prompt "chase": it needs a name of its own and a text`: func(s *shop) { s.opts.Prompts = append(s.opts.Prompts, s.opts.Prompts[0]) },
		`completion of "id": find_orders has no argument "query"`: func(s *shop) {
			s.opts.Completions = []protocol.Completion{{Argument: "id", Function: "find_orders", Search: "query"}}
		},
		`prompt "x": there is no resource "y"`: func(s *shop) {
			s.opts.Prompts = []protocol.Prompt{{Name: "x", Text: "z", Resource: "y"}}
		},
		`function "clumsy": a result must have no member "error"`: func(s *shop) {
			add(t, s, mcp.Function[nothing, struct {
				Error string `json:"error"`
			}]{Name: "clumsy", Description: "Fails in its own way.", Handler: func(context.Context, mcp.Call, nothing) (_ struct {
				Error string `json:"error"`
			}, _ error,
			) {
				return
			}})
		},
	} {
		s := newShop(t, nil)
		s.opts.Authenticate, s.opts.BaseURL = authenticate, "https://chat.example.com"
		change(s)
		_, err := protocol.New(s.Registry, &s.opts)
		require.ErrorContains(t, err, says)
	}
}
