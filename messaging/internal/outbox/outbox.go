package outbox

import (
	"context"
	"log/slog"
	"sync"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/groupcommit"
	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/connection"
	"github.com/trunklinehq/trunkline/messaging/internal/session"
	"github.com/trunklinehq/trunkline/messaging/internal/settings"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/wait"
	"github.com/trunklinehq/trunkline/provider"
)

// Sender makes attempts to send messages. See
// [NewSender].
type Sender struct {
	Store       *store.Store
	Settings    *settings.Box
	Connections *connection.Manager
	Files       *attachment.Files
	Waits       *wait.Waiters
	Liveness    *session.Liveness
	Logger      *slog.Logger
	Trace       span.Hook
	// SetState changes the session of a reference.
	SetState func(ctx context.Context, id provider.ReferenceID, change func(*store.Reference)) error
	// Sent counts attempts.
	Sent func(kind provider.Kind, outcome string)

	receipts sync.Map // by message: a [provider.Receipt] that is not recorded yet
	starts   database.Starts

	jobs *groupcommit.Reads[int64, job]
}

// NewSender returns a sender whose exported fields are those of s.
func NewSender(s *Sender) *Sender {
	s.jobs = groupcommit.NewReads(s.loadJobs)
	return s
}
