package ingest

import (
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// HiddenOf is the hidden id of a group's participant whose phone number is not
// known, and whether there is one.
func HiddenOf(ref provider.ReferenceID, who provider.Address) (store.HiddenID, bool) {
	return store.HiddenID{Reference: ref, LID: who.LID, ChatID: who.ChatID}, who.LID != "" && who.Phone == "" && sanitize.IsName(who.ChatID)
}

// noteHidden notes who wrote in groups under a hidden id.
func noteHidden(u *store.Batch, as []Event) {
	for _, a := range as {
		if m, ok := a.Event.(*provider.Message); ok && m.Chat.Group {
			if h, hidden := HiddenOf(a.Reference.ID, m.From.Address); hidden {
				u.Hidden.Add(h)
			}
		}
	}
}
