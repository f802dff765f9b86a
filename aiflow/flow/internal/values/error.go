package values

import (
	"errors"
	"fmt"
)

// Codes of values that cannot be kept.
const (
	CodeType = "value.type"
	CodeSize = "value.too_large"
)

// Error says why a value cannot be kept.
type Error struct{ Code, Message string }

// Error returns the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// WrongType returns the error of a value of another type.
func WrongType(message string) *Error { return &Error{Code: CodeType, Message: message} }

// TooLarge returns the error of a value that is too large.
func TooLarge(message string) *Error { return &Error{Code: CodeSize, Message: message} }

// At puts the name of a value before what is wrong with it.
func At(err error, name string) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{Code: e.Code, Message: name + ": " + e.Message}
	}
	return fmt.Errorf("%s: %w", name, err)
}
