package aiflow

import (
	"errors"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

var (
	// ErrNotFound reports a project, a flow, a version or a run that does not
	// exist, or belongs to another account.
	ErrNotFound = errors.New("aiflow: not found")
	// ErrUnpublished reports a flow that was to run and has no published
	// version.
	ErrUnpublished = errors.New("aiflow: the flow is not published")
	// ErrFunction reports a function that was to run by itself, or to be bound.
	ErrFunction = errors.New("aiflow: a function does not run by itself")
	// ErrRevision reports a change of a revision that is not the newest.
	ErrRevision = errors.New("aiflow: the draft has changed meanwhile")
)

// Invalid is a value that breaks a rule.
type Invalid struct {
	Field   string // name, description, draft, version, limit, cursor
	Message string
}

func invalid(field, message string) error { return &Invalid{field, message} }

func (e *Invalid) Error() string { return "aiflow: " + e.Field + " " + e.Message }

// Refused reports a draft that cannot be published.
type Refused struct {
	Problems []flow.Problem // errors and warnings
}

func refused(problems []flow.Problem) error { return &Refused{problems} }

func (e *Refused) Error() string { return "aiflow: the draft has errors" }
