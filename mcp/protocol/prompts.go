package protocol

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Prompt is a text with which people can begin a conversation in their client.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument
	// Text is the text for the model; {name} is replaced by an argument.
	Text string
	// Resource is the template of one of [Options.Resources], whose variables are
	// arguments of the prompt. Its content follows the text. "": none.
	Resource string
	// Functions are the functions that Text mentions. The prompt is hidden from
	// callers who may not call all of them.
	Functions []string
}

// PromptArgument is an argument that a person fills in.
type PromptArgument struct {
	Name, Title, Description string
	Required                 bool
}

type prompt struct {
	Prompt
	resource *resource
}

// addPrompts adds the prompts to the server.
func (h *Handler) addPrompts(server *sdk.Server) error {
	h.prompts = map[string]*prompt{}
	for _, given := range h.options.Prompts {
		p := &prompt{Prompt: given, resource: h.resources[given.Resource]}
		if err := h.checkPrompt(p); err != nil {
			return fmt.Errorf("prompt %q: %w", given.Name, err)
		}
		h.prompts[p.Name] = p
		shown := &sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			shown.Arguments = append(shown.Arguments, &sdk.PromptArgument{
				Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required,
			})
		}
		server.AddPrompt(shown, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return h.write(ctx, p, req.Params.Arguments)
		})
	}
	return nil
}

func (h *Handler) checkPrompt(p *prompt) error {
	known := func(name string) bool {
		return slices.ContainsFunc(p.Arguments, func(a PromptArgument) bool { return a.Name == name })
	}
	if p.Name == "" || p.Text == "" || h.prompts[p.Name] != nil {
		return fmt.Errorf("it needs a name of its own and a text")
	}
	if p.Resource != "" {
		if p.resource == nil {
			return fmt.Errorf("there is no resource %q", p.Resource)
		}
		for _, name := range p.resource.address.names {
			if !known(name) {
				return fmt.Errorf("its resource needs an argument %q", name)
			}
		}
	}
	for _, f := range p.Functions {
		if _, ok := h.tools[f]; !ok {
			return fmt.Errorf("there is no function %q", f)
		}
	}
	return nil
}

// write returns the messages of a prompt.
func (h *Handler) write(ctx context.Context, p *prompt, given map[string]string) (*sdk.GetPromptResult, error) {
	pairs := make([]string, 0, 2*len(p.Arguments))
	for _, a := range p.Arguments {
		if a.Required && given[a.Name] == "" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("the argument %q is missing", a.Name)}
		}
		pairs = append(pairs, "{"+a.Name+"}", given[a.Name])
	}
	text := strings.NewReplacer(pairs...).Replace(p.Text)
	res := &sdk.GetPromptResult{Description: p.Description, Messages: []*sdk.PromptMessage{
		{Role: "user", Content: &sdk.TextContent{Text: text}},
	}}
	if p.resource == nil {
		return res, nil
	}
	read, err := h.read(ctx, p.resource, p.resource.address.expand(given), given)
	if err != nil {
		return nil, err
	}
	res.Messages = append(res.Messages, &sdk.PromptMessage{Role: "user", Content: &sdk.EmbeddedResource{Resource: read}})
	return res, nil
}
