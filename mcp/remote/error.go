package remote

import (
	"github.com/trunklinehq/trunkline/internal/apierr"
)

// Code says why a call came to nothing.
type Code string

// Why a call came to nothing.
const (
	CodeConnect   Code = "mcp.connect"       // the server did not get it
	CodeTimeout   Code = "mcp.timeout"       // the server may have got it; there was no answer
	CodeTool      Code = "mcp.tool_error"    // the tool failed, or may not be used
	CodeArguments Code = "mcp.bad_arguments" // they do not fit the tool
)

// Error says why a call came to nothing. The message of one with [CodeTool] or
// [CodeArguments] may hold the server's words.
type Error struct {
	Code    Code
	Message string
	// Safe says that the tool may be called again whatever became of this call:
	// it only reads, or a second call changes nothing more.
	Safe bool
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

var (
	// ErrNotFound reports a server that does not exist, or belongs to another
	// account.
	ErrNotFound = apierr.New("remote", apierr.NotFound, "there is no such MCP server")
	// ErrTaken reports a name that another server of the account has.
	ErrTaken = apierr.New("remote", apierr.Conflict, "another MCP server has this name")
	// ErrChanged reports a tool that is not, or no more, what was to be
	// approved.
	ErrChanged = apierr.New("remote", apierr.Conflict, "a tool is not, or no more, what was to be approved: look at it again")
)

// Invalid reports a value that breaks a rule. It has the Field, a path in the
// request, and the Message, to be read after the field; never the value, which
// may be a secret.
//
// Fields are name, url, credential, tools, limit and cursor.
type Invalid = apierr.Invalid
