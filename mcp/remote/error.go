package remote

import "errors"

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
	ErrNotFound = errors.New("remote: not found")
	// ErrTaken reports a name that another server of the account has.
	ErrTaken = errors.New("remote: the name is taken")
	// ErrChanged reports a tool that is not, or no more, what was to be
	// approved.
	ErrChanged = errors.New("remote: the tool is another now")
)

// Invalid is a value that breaks a rule.
type Invalid struct {
	Field   string // name, url, credential, tools, limit, cursor
	Message string
}

func (e *Invalid) Error() string { return "remote: " + e.Field + " " + e.Message }
