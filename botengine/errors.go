package botengine

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/apierr"
)

var (
	// ErrNotFound reports a bot, a version or a run that does not exist, or
	// belongs to another account.
	ErrNotFound = apierr.New("botengine", apierr.NotFound, "there is no such bot")
	// ErrUnpublished reports a bot that was to run and has no published
	// version.
	ErrUnpublished = apierr.New("botengine", apierr.Conflict, "the bot has no published version: publish it, or run its draft")
	// ErrRevision reports a change of a revision that is not the newest.
	ErrRevision = apierr.New("botengine", apierr.PreconditionFailed, "the bot has changed since you fetched it: fetch it again and repeat your change")
)

// Invalid reports a value that breaks a rule. It has the Field, a path in the
// request, and the Message, to be read after the field; never the value, which
// may be a secret.
//
// Fields are name, trigger, keywords, keywords[2], flow, limit and cursor.
type Invalid = apierr.Invalid

// Refused reports a draft that cannot be published.
type Refused struct {
	Problems []flow.Problem // errors and warnings
}

func refused(problems []flow.Problem) error { return &Refused{problems} }

func (e *Refused) Error() string { return "botengine: the draft has errors" }
