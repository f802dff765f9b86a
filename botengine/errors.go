package botengine

import (
	"errors"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

var (
	// ErrNotFound reports a bot, a version or a run that does not exist, or
	// belongs to another account.
	ErrNotFound = errors.New("botengine: not found")
	// ErrUnpublished reports a bot that was to run and has no published
	// version.
	ErrUnpublished = errors.New("botengine: the bot is not published")
	// ErrRevision reports a change of a revision that is not the newest.
	ErrRevision = errors.New("botengine: the bot has changed meanwhile")
)

// Invalid is a value that breaks a rule.
type Invalid struct {
	Field   string // name, trigger, keywords, keywords[2], flow, limit, cursor
	Message string
}

func invalid(field, message string) error { return &Invalid{field, message} }

func (e *Invalid) Error() string { return "botengine: " + e.Field + " " + e.Message }

// Refused reports a draft that cannot be published.
type Refused struct {
	Problems []flow.Problem // errors and warnings
}

func refused(problems []flow.Problem) error { return &Refused{problems} }

func (e *Refused) Error() string { return "botengine: the draft has errors" }
