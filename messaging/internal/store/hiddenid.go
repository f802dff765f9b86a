package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/provider"
)

// HiddenID is a LID that a network named for a person who may have no chat: a
// participant of a group, who wrote there or was listed. Its digits must not be taken for a phone number.
type HiddenID struct {
	Reference   provider.ReferenceID
	LID, ChatID string
}

func (u *Batch) writeHidden(ctx context.Context) error {
	slices.SortFunc(u.Hidden.Items, func(a, b HiddenID) int {
		return compareNames(ChatName{a.Reference, TypedID{IDLID, a.LID}}, ChatName{b.Reference, TypedID{IDLID, b.LID}})
	})
	rows := make([][]any, len(u.Hidden.Items))
	for i, h := range u.Hidden.Items {
		rows[i] = []any{h.Reference, h.LID, h.ChatID}
	}
	err := u.Insert(ctx, `INSERT INTO messaging_lid (reference, lid, chat_id)`, []string{"BIGINT", "TEXT", "TEXT"}, rows, ` ON CONFLICT (reference, lid) DO NOTHING`)
	if err != nil {
		return fmt.Errorf("noting hidden ids: %w", err)
	}
	return nil
}
