package messaging

import (
	"context"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// recognise finds the messages among as that the network shows us although
// they were sent from here: what is left of them is that the network has them.
func (u *batch) recognise(ctx context.Context, as []inboundEvent) ([]inboundEvent, error) {
	var keys ordered[messageKey]
	for _, a := range as {
		if m, ok := a.event.(*provider.Message); ok && m.OwnID != "" {
			keys.add(messageKey{a.reference.ID, m.OwnID})
		}
	}
	if len(keys.items) == 0 {
		return as, nil
	}
	at, err := u.locate(ctx, keys.items)
	if err != nil {
		return nil, err
	}
	own := map[messageKey]bool{}
	for _, l := range at {
		own[messageKey{l.Reference, l.OwnID}] = true
	}
	as = slices.Clone(as)
	for i, a := range as {
		m, ok := a.event.(*provider.Message)
		if ok && m.OwnID != "" && own[messageKey{a.reference.ID, m.OwnID}] {
			as[i] = inboundEvent{reference: a.reference, parent: a.parent, echo: true, event: &provider.StatusChange{
				MessageID: m.ID, OwnID: m.OwnID, Status: provider.StatusSending, At: m.At, To: m.Chat,
			}}
		}
	}
	return as, nil
}

// echoed notes when the network took an own message, by its own clock.
func (u *batch) echoed(l referenceInfo, m *messageRow, e *provider.StatusChange) {
	if at := database.Micros(e.At); at > 0 && m.OwnID != "" && m.StartedUS != at {
		m.StartedUS = at
		u.dirtyMessages.add(m)
		u.applyWatermarks(l, m)
	}
}
