package remote

import (
	"github.com/trunklinehq/trunkline/internal/apierr"
)

// Code is the reason why a call failed.
type Code string

// Reasons why a call failed.
const (
	CodeConnect   Code = "mcp.connect"       // the server did not receive it
	CodeTimeout   Code = "mcp.timeout"       // the server may have received it, but did not answer
	CodeTool      Code = "mcp.tool_error"    // the tool failed, or may not be used
	CodeArguments Code = "mcp.bad_arguments" // they do not match the tool's schema
)

// Error is the error of a call. With [CodeTool] or [CodeArguments] its message may
// quote the server.
type Error struct {
	Code    Code
	Message string
	// Safe reports that the tool may be called again whatever the outcome of this
	// call: it only reads, or a second call changes nothing more.
	Safe bool
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

var (
	// ErrNotFound reports a server that does not exist, or belongs to another
	// account.
	ErrNotFound = apierr.New("remote", apierr.NotFound, "there is no such MCP server")
	// ErrTaken reports a name that another server of the account has.
	ErrTaken = apierr.New("remote", apierr.Conflict, "another MCP server has this name: choose another name")
	// ErrChanged reports an approval of a tool that has changed since or no longer
	// exists.
	ErrChanged = apierr.New("remote", apierr.Conflict, "a tool has changed since you looked at it: look at it again, then approve it")
)

// Invalid reports a value that breaks a rule. It has the Field, a path in the
// request, and the Message, to be read after the field; never the value, which
// may be a secret.
//
// Fields are name, url, credential, tools, limit and cursor.
type Invalid = apierr.Invalid
