package ingest

import (
	"context"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// recognise finds the messages among as that the network shows us although
// they were sent from here: what is left of them is that the network has them.
func recognise(ctx context.Context, u *store.Batch, as []Event) ([]Event, error) {
	var keys store.Ordered[store.MessageKey]
	for _, a := range as {
		if m, ok := a.Event.(*provider.Message); ok && m.OwnID != "" {
			keys.Add(store.MessageKey{Reference: a.Reference.ID, ID: m.OwnID})
		}
	}
	if len(keys.Items) == 0 {
		return as, nil
	}
	at, err := u.Locate(ctx, keys.Items)
	if err != nil {
		return nil, err
	}
	own := map[store.MessageKey]bool{}
	for _, l := range at {
		own[store.MessageKey{Reference: l.Reference, ID: l.OwnID}] = true
	}
	as = slices.Clone(as)
	for i, a := range as {
		m, ok := a.Event.(*provider.Message)
		if ok && m.OwnID != "" && own[store.MessageKey{Reference: a.Reference.ID, ID: m.OwnID}] {
			as[i] = Event{Reference: a.Reference, Parent: a.Parent, echo: true, Event: &provider.StatusChange{
				MessageID: m.ID, OwnID: m.OwnID, Status: provider.StatusSending, At: m.At, To: m.Chat,
			}}
		}
	}
	return as, nil
}

// echoed notes when the network took an own message, by its own clock.
func echoed(u *store.Batch, l store.ReferenceInfo, m *store.Message, e *provider.StatusChange) {
	if at := database.Micros(e.At); at > 0 && m.OwnID != "" && m.StartedUS != at {
		m.StartedUS = at
		u.DirtyMessages.Add(m)
		applyWatermarks(u, l, m)
	}
}
