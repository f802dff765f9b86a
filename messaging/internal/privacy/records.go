package privacy

import (
	"context"

	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Records are what is held on people, references and accounts. Its fields are
// set before first use.
type Records struct {
	Store *store.Store
	Files *attachment.Files
	// EraseElsewhere erases what other packages keep of a contact.
	EraseElsewhere func(ctx context.Context, e payload.Erased) error
	// Changed makes every node read references again, and Dropped ends what this
	// node has of one that is deleted.
	Changed func()
	Dropped func(id provider.ReferenceID)
}

// eraseChunk is how many rows one transaction deletes.
const eraseChunk = 500
