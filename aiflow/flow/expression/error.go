package expression

import "fmt"

// Codes of [Error]. The first group occurs when compiling, the second when
// compiling or evaluating, the third only when evaluating.
const (
	CodeSyntax          = "expression.syntax"
	CodeTooLong         = "expression.too_long"
	CodeTooManyNodes    = "expression.too_many_nodes"
	CodeUnknownName     = "expression.unknown_name"
	CodeUnknownMember   = "expression.unknown_member"
	CodeUnknownFunction = "expression.unknown_function"
	CodeRegex           = "expression.regex"

	CodeArguments = "expression.arguments"
	CodeType      = "expression.type"

	CodeValue          = "expression.value"
	CodeDivisionByZero = "expression.division_by_zero"
	CodeOverflow       = "expression.overflow"
	CodeSteps          = "expression.steps"
	CodeBytes          = "expression.bytes"
	CodeInternal       = "expression.internal" // a bug in this package
)

// Error describes what is wrong with an expression or its evaluation. Every error
// of this package is an *Error.
type Error struct {
	Code    string
	At      int    // byte offset in the source, or in the whole template
	Message string // for people; has no values of the environment
	Hint    string // what to write instead; may be empty
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return fmt.Sprintf("%s at %d: %s", e.Code, e.At, e.Message)
	}
	return fmt.Sprintf("%s at %d: %s; %s", e.Code, e.At, e.Message, e.Hint)
}

func fail(code string, at int, format string, args ...any) *Error {
	return &Error{Code: code, At: at, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) hint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// shift returns the error with its offset moved by a number of bytes: that of a
// text which contains the source.
func (e *Error) shift(by int) *Error {
	moved := *e
	moved.At += by
	return &moved
}
