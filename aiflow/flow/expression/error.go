package expression

import "fmt"

// Codes of [Error]. The first group is found when compiling, the second may
// also come, and the third only comes, when evaluating.
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
	CodeInternal       = "expression.internal" // a fault of this package
)

// Error says what is wrong with an expression or with its evaluation. Every
// error of this package is one.
type Error struct {
	Code    string
	At      int    // byte offset in the source; in the whole template for templates
	Message string // for people, without values of the environment
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

// shift returns the error as seen from a text in which the source begins at
// byte offset by.
func (e *Error) shift(by int) *Error {
	moved := *e
	moved.At += by
	return &moved
}
