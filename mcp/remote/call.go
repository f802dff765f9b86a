package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trunklinehq/trunkline/aiflow/llm/structured"
	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/jsonscan"
)

// Call is a call of a tool.
type Call struct {
	Server, Tool string          // by their names
	Arguments    json.RawMessage // an object; nil: {}
	// Key identifies the call: a repeated call has the same key. It is sent as
	// Idempotency-Key; "": none.
	Key string
}

// Result is the result of a tool.
type Result struct {
	Text  string          // for models
	Value json.RawMessage // the structured result, byte for byte; nil: none
}

// JSON returns the structured result, or the text as a JSON string.
func (r Result) JSON() json.RawMessage {
	if r.Value != nil {
		return r.Value
	}
	text, _ := json.Marshal(r.Text) // encoding a text cannot fail
	return text
}

// maxMessage bounds the server's text in an error, in bytes.
const maxMessage = 2000

// Call calls an approved tool. Its error is an [*Error], or one of the database.
// Without a deadline it takes at most [Options].Call.
func (a *Account) Call(ctx context.Context, c Call) (Result, error) {
	t, tool, err := a.find(ctx, c.Server, c.Tool)
	if err != nil {
		return Result{}, err
	}
	safe := false
	if tool != nil {
		d := tool.definition()
		safe = d.Hints.ReadOnly || d.Hints.Idempotent
		if err := checkArguments(d.Schema, c.Arguments); err != nil {
			return Result{}, err
		}
	}
	if _, has := ctx.Deadline(); !has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.s.opts.Call)
		defer cancel()
	}
	out, err := a.s.call(ctx, t, tool, c)
	if failed, ok := errors.AsType[*Error](err); ok {
		failed.Safe = safe
	}
	return out, err
}

// Repeatable reports whether an approved tool may be called again when the outcome
// of a call is unknown: according to its server, it only reads, or a second call
// changes nothing more.
func (a *Account) Repeatable(ctx context.Context, server, tool string) bool {
	_, t, err := a.find(ctx, server, tool)
	if err != nil || t == nil {
		return false
	}
	h := t.definition().Hints
	return h.ReadOnly || h.Idempotent
}

// find returns a server with a tool that may be used. The tool is nil for a
// program, all of whose tools are approved.
func (a *Account) find(ctx context.Context, server, tool string) (target, *toolRow, error) {
	if p, ok := a.s.opts.Programs[server]; ok {
		return a.program(server, p), nil, nil
	}
	r, err := a.named(ctx, server)
	switch {
	case errors.Is(err, ErrNotFound):
		return target{}, nil, &Error{Code: CodeConnect, Message: "There is no MCP server with this name."}
	case err != nil:
		return target{}, nil, err
	case !r.Enabled:
		return target{}, nil, &Error{Code: CodeConnect, Message: "The MCP server is switched off."}
	}
	rows, err := a.s.toolsOf(ctx, a.s.db, r.ID)
	if err != nil {
		return target{}, nil, err
	}
	for i := range rows {
		if rows[i].Name == tool {
			return target{server: r}, &rows[i], rows[i].forbidden()
		}
	}
	return target{}, nil, &Error{Code: CodeTool, Message: "The MCP server has no tool with this name."}
}

func (a *Account) program(name string, p Program) target {
	return target{server: serverRow{ID: "program/" + name, Name: name, Account: a.id}, program: &p}
}

func (r *toolRow) forbidden() error {
	switch {
	case r.usable():
		return nil
	case r.Approved != "":
		return &Error{Code: CodeTool, Message: "The tool has changed and must be approved again."}
	}
	return &Error{Code: CodeTool, Message: "The tool is not approved."}
}

// checkArguments validates arguments against a tool's schema. It leaves the check
// to the server if the schema is invalid or refers to others.
func checkArguments(schema, arguments json.RawMessage) error {
	compiled, err := structured.Compile(schema)
	if err != nil {
		return nil //nolint:nilerr // the server decides
	}
	var v any = map[string]any{}
	if len(arguments) > 0 {
		d := json.NewDecoder(bytes.NewReader(arguments))
		d.UseNumber()
		if err := d.Decode(&v); err != nil || jsonscan.Kind(arguments) != '{' {
			return &Error{Code: CodeArguments, Message: "The arguments are not a JSON object."}
		}
	}
	if misfit, ok := errors.AsType[*structured.Misfit](compiled.Validate(v)); ok {
		return &Error{Code: CodeArguments, Message: truncate(strings.Join(misfit.Problems, "; "))}
	}
	return nil
}

// call connects, checks that the tool is still the approved one, and calls it. If
// the server has lost the session it connects again, once.
func (s *Service) call(ctx context.Context, t target, tool *toolRow, c Call) (Result, error) {
	for again := true; ; again = false {
		conn, err := s.pool.acquire(ctx, t)
		if err != nil {
			return Result{}, unreached(err)
		}
		if tool != nil {
			if err := s.unchanged(ctx, conn, tool); err != nil {
				s.pool.give(conn, !broken(ctx, err))
				return Result{}, err
			}
		}
		out, lost, err := s.perform(ctx, conn, c)
		s.pool.give(conn, !broken(ctx, err))
		if lost && again {
			continue
		}
		return out, err
	}
}

// broken reports whether an error means that a new connection is needed. It does
// not when the caller gave up.
func broken(ctx context.Context, err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Code == CodeConnect || e.Code == CodeTimeout) && !errors.Is(ctx.Err(), context.Canceled)
}

// unchanged lists the server's tools again, if the last list is old or the tool
// seems to have changed, and refuses a changed tool.
func (s *Service) unchanged(ctx context.Context, conn *session, tool *toolRow) error {
	var err error
	for _, older := range []time.Duration{listTTL, 0} {
		list, fresh, failed := conn.tools(ctx, s.opts.Now(), older)
		if failed != nil {
			return unreached(failed)
		}
		if fresh {
			if err := s.seen(ctx, conn.target.server, list); err != nil {
				return err
			}
		}
		if err = tool.among(list); err == nil || fresh {
			return err
		}
	}
	return err
}

// among finds an approved tool in a server's list.
func (r *toolRow) among(list []*sdk.Tool) error {
	for _, t := range list {
		if t.Name != r.Name {
			continue
		}
		if d, ok := define(t); ok {
			if hash, err := d.hash(t.Name); err != nil || hash == r.Hash {
				return err
			}
		}
		return &Error{Code: CodeTool, Message: "The tool has changed and must be approved again."}
	}
	return &Error{Code: CodeTool, Message: "The MCP server has no tool with this name."}
}

// perform makes the call. lost reports that the server did not know the session,
// and has done nothing.
func (s *Service) perform(ctx context.Context, conn *session, c Call) (out Result, lost bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	x := &exchange{key: c.Key, cancel: cancel}
	args := c.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	res, err := conn.sdk.CallTool(x.within(ctx), &sdk.CallToolParams{Name: c.Tool, Arguments: args})
	if err != nil {
		return Result{}, errors.Is(err, sdk.ErrSessionMissing), x.failed(err, conn.target.program != nil)
	}
	out = resultOf(res)
	if res.IsError {
		return out, false, &Error{Code: CodeTool, Message: truncate(out.Text)}
	}
	return out, false, nil
}

// failed returns the error of a call that failed.
func (x *exchange) failed(err error, program bool) *Error {
	status := int(x.status.Load())
	if x.large.Load() || errors.Is(err, errTooLarge) {
		return &Error{Code: CodeTool, Message: "The answer is larger than 1 MB."}
	}
	if wire := answered(err); wire != nil && wire.Code == jsonrpc.CodeInvalidParams {
		return &Error{Code: CodeArguments, Message: truncate(wire.Message)}
	} else if wire != nil {
		return &Error{Code: CodeTool, Message: truncate(wire.Message)}
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound, status == http.StatusTooManyRequests:
		return &Error{Code: CodeConnect, Message: fmt.Sprintf("The server refused the call with status %d.", status)}
	case !x.reached.Load() && !program:
		return unreached(err)
	case status >= http.StatusMultipleChoices:
		return &Error{Code: CodeTimeout, Message: fmt.Sprintf("The server answered with status %d.", status)}
	}
	return &Error{Code: CodeTimeout, Message: "The server did not answer in time."}
}

// Codes of the client's own errors: it is closing, the server is, or the request
// was rejected.
const (
	codeClosing  = -32003
	codeRejected = -32005
)

// answered returns the error in a server's answer; nil: there is none.
func answered(err error) *jsonrpc.Error {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code <= codeClosing && wire.Code >= codeRejected {
		return nil
	}
	return wire
}

// unreached returns why a server could not be reached. It does not show the
// client's own text, which may contain an address with a secret.
func unreached(err error) *Error {
	var known *Error
	why := "The server could not be reached, or does not support MCP at this address."
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, guard.ErrRefused):
		why = "The address of the server is private and not allowed."
	case errors.Is(err, errBroken), errors.Is(err, errLate), errors.Is(err, errClosed):
		why = strings.ToUpper(err.Error()[:1]) + err.Error()[1:] + "."
	case errors.Is(err, context.DeadlineExceeded):
		why = "The server did not answer in time."
	}
	return &Error{Code: CodeConnect, Message: why}
}

// resultOf converts the result of a tool.
func resultOf(res *sdk.CallToolResult) Result {
	var parts []string
	for _, c := range res.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			parts = append(parts, c.Text)
		case *sdk.ImageContent:
			parts = append(parts, "[image "+c.MIMEType+"]")
		case *sdk.AudioContent:
			parts = append(parts, "[audio "+c.MIMEType+"]")
		case *sdk.ResourceLink:
			parts = append(parts, "["+c.Name+" "+c.URI+"]")
		case *sdk.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				parts = append(parts, c.Resource.Text)
			}
		}
	}
	out := Result{Text: strings.Join(parts, "\n")}
	if raw, ok := res.StructuredContent.(string); ok && raw != "null" { // see exact
		out.Value = json.RawMessage(raw)
		out.Text = cmp.Or(out.Text, raw)
	}
	return out
}

// truncate shortens a text of a server.
func truncate(s string) string {
	if len(s) > maxMessage {
		s = s[:maxMessage] + "…"
	}
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r == 0 {
			return -1
		}
		return r
	}, s)
}
