package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The SDK allocates a buffer of 32 KiB for each JSON value that it decodes, nine to
// twelve of them for one call (see docs/dependencies.md). The Handler therefore
// answers calls of its functions itself, if it is certain that the SDK would accept
// them and pass them to Handler.call. All other requests are the SDK's.

const (
	methodCall = "tools/call"
	// stateless is the first revision whose requests describe their client.
	stateless = "2026-07-28"
	// directDepth bounds the brackets of a direct call. The SDK refuses messages that
	// are nested deeper.
	directDepth = 1000
)

// directRevisions are the revisions whose calls can be direct.
var directRevisions = []string{"2025-03-26", "2025-06-18", "2025-11-25", stateless}

// directCall is a call of a function that needs no SDK.
type directCall struct {
	id        jsonrpc.ID
	name      string
	arguments json.RawMessage
	stateless bool // the revision is [stateless]
}

// prepareDirect decides which functions have direct calls. Servers with features of
// their own have none: the features may see or change each call.
func (h *Handler) prepareDirect() {
	h.execute = h.recovered(func(ctx context.Context, _ string, req sdk.Request) (sdk.Result, error) {
		call, ok := req.(*sdk.CallToolRequest)
		if !ok {
			return nil, errors.New("the request is not a call")
		}
		return h.call(ctx, call)
	})
	h.direct = map[string]bool{}
	if h.options.Extend != nil || h.options.Server != nil {
		return
	}
	for name, f := range h.tools {
		h.direct[name] = !bytes.Contains(f.Input, []byte("x-mcp-header")) // the SDK compares such arguments with headers
	}
}

// readDirect returns the call in a request, or false if the request is the SDK's. It
// leaves the body unread.
func (h *Handler) readDirect(r *http.Request) (directCall, bool) {
	if len(h.direct) == 0 || r.Method != http.MethodPost || !directHeader(r.Header) {
		return directCall{}, false
	}
	body, err := io.ReadAll(r.Body)
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body} // the reader repeats its error
	if err != nil || bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) > directDepth {
		return directCall{}, false
	}
	return h.parseDirect(r.Header, body)
}

// directHeader reports whether a request has the header that clients send with a
// call. The SDK accepts other spellings too.
func directHeader(header http.Header) bool {
	revision := header.Get("Mcp-Protocol-Version")
	return slices.Contains(directRevisions, revision) &&
		(revision != stateless || header.Get("Mcp-Method") == methodCall) &&
		header.Get("Content-Type") == "application/json" &&
		header.Get("Accept") == "application/json, text/event-stream" &&
		header.Values("Last-Event-Id") == nil
}

func (h *Handler) parseDirect(header http.Header, body []byte) (c directCall, ok bool) {
	c.stateless = header.Get("Mcp-Protocol-Version") == stateless
	message, ok := members(body, "jsonrpc", "id", "method", "params")
	if !ok || string(message["jsonrpc"]) != `"2.0"` || string(message["method"]) != `"`+methodCall+`"` {
		return c, false
	}
	if c.id, ok = identifier(message["id"]); !ok {
		return c, false
	}
	params, ok := members(message["params"], "name", "arguments", "_meta")
	if !ok || json.Unmarshal(params["name"], &c.name) != nil || !h.direct[c.name] {
		return c, false
	}
	if c.stateless && header.Get("Mcp-Name") != c.name {
		return c, false
	}
	c.arguments = params["arguments"]
	return c, c.describedBy(params["_meta"])
}

// members returns the members of an object that has no others than those of names.
func members(object json.RawMessage, names ...string) (map[string]json.RawMessage, bool) {
	var out map[string]json.RawMessage
	if json.Unmarshal(object, &out) != nil {
		return nil, false
	}
	for name := range out {
		if !slices.Contains(names, name) {
			return nil, false
		}
	}
	return out, true
}

// identifier returns the identifier of a request, which a notification lacks.
func identifier(raw json.RawMessage) (jsonrpc.ID, bool) {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(value)
	return id, err == nil && id.IsValid()
}

// describedBy reports whether the metadata of a call are valid, suit its revision
// and ask for no progress.
func (c directCall) describedBy(raw json.RawMessage) bool {
	var meta map[string]json.RawMessage
	if raw != nil && json.Unmarshal(raw, &meta) != nil {
		return false
	}
	if _, ok := meta["progressToken"]; ok {
		return false
	}
	revision, described := meta[sdk.MetaKeyProtocolVersion]
	if !c.stateless {
		return !described
	}
	client, ok := meta[sdk.MetaKeyClientInfo]
	return string(revision) == `"`+stateless+`"` && decodes[sdk.ClientCapabilities](meta[sdk.MetaKeyClientCapabilities]) &&
		(!ok || decodes[sdk.Implementation](client))
}

// decodes reports whether a value is an object of type T.
func decodes[T any](raw json.RawMessage) bool {
	var out *T
	return json.Unmarshal(raw, &out) == nil && out != nil
}

// serveDirect executes a call and writes the same answer as the SDK.
func (h *Handler) serveDirect(ctx context.Context, w http.ResponseWriter, c directCall) {
	if !c.stateless {
		ctx = context.WithoutCancel(ctx) // a client of these revisions may disconnect
	}
	result, err := h.execute(ctx, methodCall, &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: c.name, Arguments: c.arguments}})
	response := &jsonrpc.Response{ID: c.id, Error: err}
	if call, ok := result.(*sdk.CallToolResult); ok && err == nil {
		response.Result, response.Error = h.encodeResult(call, c.stateless)
	}
	data, err := jsonrpc.EncodeMessage(response)
	if err != nil {
		h.logger.ErrorContext(ctx, "writing a response failed", "error", err)
		refuse(w, http.StatusInternalServerError, jsonrpc.CodeInternalError, "internal error")
		return
	}
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Connection", "keep-alive")
	_, _ = w.Write(slices.Concat([]byte("event: message\ndata: "), data, []byte("\n\n")))
}

// encodeResult encodes a result. The members that only stateless revisions have are
// not exported by the SDK.
func (h *Handler) encodeResult(r *sdk.CallToolResult, stateless bool) (json.RawMessage, error) {
	out := struct {
		Meta       sdk.Meta      `json:"_meta,omitempty"`
		Content    []sdk.Content `json:"content"`
		Structured any           `json:"structuredContent,omitempty"`
		IsError    bool          `json:"isError,omitempty"`
		Type       string        `json:"resultType,omitempty"`
	}{Content: r.Content, Structured: r.StructuredContent, IsError: r.IsError}
	if stateless {
		out.Meta = sdk.Meta{sdk.MetaKeyServerInfo: h.self}
		out.Type = "complete"
	}
	return json.Marshal(out)
}
