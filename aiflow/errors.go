package aiflow

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/apierr"
)

var (
	// ErrNotFound reports a project, a flow, a version or a run that does not
	// exist, or belongs to another account.
	ErrNotFound = apierr.New("aiflow", apierr.NotFound, "there is no such project, flow or run")
	// ErrUnpublished reports a flow that was to run and has no published
	// version.
	ErrUnpublished = apierr.New("aiflow", apierr.Conflict, "the flow has no published version: publish it first")
	// ErrFunction reports a function that was to run by itself, or to be bound.
	ErrFunction = apierr.New("aiflow", apierr.Conflict, "a function cannot be run or bound: only a flow can")
	// ErrRevision reports a change of a revision that is not the newest.
	ErrRevision = apierr.New("aiflow", apierr.PreconditionFailed, "the draft has changed since you fetched it: fetch it again and repeat your change")
)

// Invalid reports a value that breaks a rule. It has the Field, a path in the
// request, and the Message, to be read after the field; never the value, which
// may be a secret.
//
// Fields are name, description, draft, version, limit and cursor.
type Invalid = apierr.Invalid

// Refused reports a draft that cannot be published.
type Refused struct {
	Problems []flow.Problem // errors and warnings
}

func refused(problems []flow.Problem) error { return &Refused{problems} }

func (e *Refused) Error() string { return "aiflow: the draft has errors" }
