package store

import (
	"errors"
	"strings"
)

var (
	// ErrNotFound reports an extractor that does not exist, or belongs to
	// another account.
	ErrNotFound = errors.New("store: not found")
	// ErrUntrained reports intents that have not been learned yet.
	ErrUntrained = errors.New("store: the intents have not been learned yet")
)

// Invalid is a value that breaks a rule.
type Invalid struct {
	Field   string // name, kind, scope, config.pattern, config.intents[3].examples …, limit, cursor
	Message string
}

func (e *Invalid) Error() string { return "store: " + e.Field + " " + e.Message }

// inConfig turns an error that begins with the name of a field into an [Invalid].
func inConfig(err error) error {
	field, message, _ := strings.Cut(err.Error(), " ")
	return &Invalid{"config." + strings.TrimSuffix(field, ":"), message}
}
