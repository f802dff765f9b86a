package runtime

import (
	"context"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Engine is a product that owns flows: it says which of them listen on a reference,
// and hands out what they run.
type Engine interface {
	Name() string
	// Listeners are the published flows that listen on a reference, also those that
	// are switched off there.
	Listeners(ctx context.Context, account string, reference int64) ([]Listener, error)
	// Source is a version of a flow, which never changes; 0 is its draft, which may.
	Source(ctx context.Context, account, owner string, version int64) (Source, error)
}

// Keeper is an [Engine] that is asked, in the transaction in which a run of a
// flow is stored, whether it still has the flow, and which keeps it from being
// deleted until that ends. It answers [ErrNotFound] if it has not.
type Keeper interface {
	KeepTx(ctx context.Context, tx Tx, owner string) error
}

// engines are those that own flows.
type engines []Engine

// named returns the engine of a name; nil: there is none.
func (es engines) named(name string) Engine {
	for _, e := range es {
		if e.Name() == name {
			return e
		}
	}
	return nil
}

// keepTx prevents that a flow is deleted until tx ends. A flow that does not
// exist is [ErrNotFound].
func (es engines) keepTx(ctx context.Context, tx Tx, engine, owner string) error {
	if k, is := es.named(engine).(Keeper); is {
		return k.KeepTx(ctx, tx, owner)
	}
	return nil
}

// Source is what a run runs: a document, and the documents of the functions
// that it calls, in whatever depth.
type Source struct {
	Document  *flow.Document
	Functions []*flow.Document
}
