package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Listener is a published flow whose trigger may take what comes on a reference.
type Listener struct {
	Engine      string // whose it is; set by the runtime
	Owner, Name string // the engine's id of it, and what people call it
	Version     int64
	Enabled     bool          // false: it is switched off on this reference
	Priority    int           // the higher one answers, of two with the same the one with the narrower rule
	CreatedAt   time.Time     // and of these the older
	Trigger     *flow.Trigger // see [Triggers]
}

// Listeners are the flows of all engines that listen on a reference, in the order in
// which they are asked, as far as that does not follow from the message: the
// higher priority, the narrower rule, the older. Those that are switched off
// come last.
func (a *Account) Listeners(ctx context.Context, reference int64) ([]Listener, error) {
	out := []Listener{}
	for _, e := range a.r.engines {
		found, err := e.Listeners(ctx, a.id, reference)
		if err != nil {
			return nil, fmt.Errorf("asking engine %s who listens: %w", e.Name(), err)
		}
		for i := range found {
			found[i].Engine = e.Name()
		}
		out = append(out, found...)
	}
	slices.SortStableFunc(out, func(x, y Listener) int {
		if x.Enabled != y.Enabled {
			return cmp.Compare(btoi(y.Enabled), btoi(x.Enabled))
		}
		return cmp.Or(cmp.Compare(y.Priority, x.Priority), cmp.Compare(x.Trigger.Narrowest(), y.Trigger.Narrowest()), x.CreatedAt.Compare(y.CreatedAt))
	})
	return out, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
