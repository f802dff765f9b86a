package protocol

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trunklinehq/trunkline/mcp"
)

// Resource is the result of a function at an address. People attach resources to a
// conversation; models call functions. Reading a resource is a call, with the same
// permission, limits and audit.
type Resource struct {
	// Template is its address, trunkline://reference/{reference}. Its
	// variables are the function's arguments.
	Template                 string
	Name, Title, Description string
	Function                 string
}

type resource struct {
	Resource
	address address
	texts   map[string]bool // variables that are texts, not numbers
}

// addResources adds the templates to the server.
func (h *Handler) addResources(server *sdk.Server) error {
	h.resources = map[string]*resource{}
	for _, given := range h.options.Resources {
		r, err := h.resource(given)
		if err != nil {
			return fmt.Errorf("resource %q: %w", given.Name, err)
		}
		h.resources[r.Template] = r
		server.AddResourceTemplate(&sdk.ResourceTemplate{
			URITemplate: r.Template, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: "application/json",
		}, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			values, ok := r.address.match(req.Params.URI)
			if !ok {
				return nil, sdk.ResourceNotFoundError(req.Params.URI)
			}
			contents, err := h.read(ctx, r, req.Params.URI, values)
			if err != nil {
				return nil, err
			}
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
		})
	}
	return nil
}

func (h *Handler) resource(given Resource) (*resource, error) {
	a, err := parseAddress(given.Template)
	if err != nil {
		return nil, err
	}
	texts, err := h.texts(given.Function, a.names)
	if err != nil {
		return nil, err
	}
	return &resource{Resource: given, address: a, texts: texts}, nil
}

// read calls the resource's function with the variables of its address.
func (h *Handler) read(ctx context.Context, r *resource, uri string, values map[string]string) (*sdk.ResourceContents, error) {
	raw, err := json.Marshal(arguments(r.address.names, r.texts, values))
	if err != nil {
		return nil, fmt.Errorf("writing arguments: %w", err)
	}
	out := h.registry.Execute(ctx, callerOf(ctx), mcp.Request{Function: r.Function, Arguments: raw})
	if out.Error != nil {
		return nil, unreadable(uri, out.Error)
	}
	return &sdk.ResourceContents{URI: uri, MIMEType: "application/json", Text: string(out.Result)}, nil
}

// unreadable returns a failed call as an error of the protocol, which is its only
// way to report a resource that cannot be read.
func unreadable(uri string, e *mcp.Error) error {
	if e.Code == mcp.CodeNotFound {
		return sdk.ResourceNotFoundError(uri)
	}
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("writing an error: %w", err)
	}
	code := int64(codeRefused)
	if e.Code == mcp.CodeInvalidArguments {
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: e.Message, Data: data}
}

// canonical escapes characters in an address that models leave unescaped, so that
// the SDK finds the template.
func (h *Handler) canonical(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if read, ok := req.(*sdk.ReadResourceRequest); ok && read.Params != nil {
			for _, r := range h.resources {
				if values, ok := r.address.match(read.Params.URI); ok {
					read.Params.URI = r.address.expand(values)
					break
				}
			}
		}
		return next(ctx, method, req)
	}
}
