package callback

import (
	"context"
	"log/slog"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/settings"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Router takes callbacks and hands their events to the references that they
// are for. Its fields are set before first use.
type Router struct {
	Store     *store.Store
	Settings  *settings.Box
	Providers []provider.Provider
	Logger    *slog.Logger
	// Ingest stores inbound events.
	Ingest func(ctx context.Context, as []ingest.Event) error
	// IngestReplay stores inbound events in one transaction with first, which runs
	// before.
	IngestReplay func(ctx context.Context, as []ingest.Event, first func(ctx context.Context, tx *database.Tx) error) error
	// Check asks the network about a reference's credentials.
	Check func(ctx context.Context, row *store.Reference) (*store.Reference, error)
	// MarkConnected notes that the network and a starting reference are in touch.
	MarkConnected func(ctx context.Context, id provider.ReferenceID)
	// Changed makes every node read references again.
	Changed func()
	// Unrouted counts entries that are for no reference.
	Unrouted func(kind provider.Kind, n int)

	claims claimCache
}

// Forget makes the next callback read again who claims its ids.
func (r *Router) Forget() { r.claims.clear() }
