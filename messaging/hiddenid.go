package messaging

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/provider"
)

// hiddenID is a LID that a network named for somebody who may have no chat: a
// participant of a group, who wrote there or was listed. Its digits must not be taken for a phone number.
type hiddenID struct {
	reference   provider.ReferenceID
	lid, chatID string
}

// hiddenOf is the hidden id of a group's participant whose phone number is not
// known, and whether there is one.
func hiddenOf(ref provider.ReferenceID, who provider.Address) (hiddenID, bool) {
	return hiddenID{ref, who.LID, who.ChatID}, who.LID != "" && who.Phone == "" && named(who.ChatID)
}

// noteHidden notes who wrote in groups under a hidden id.
func (u *batch) noteHidden(as []inboundEvent) {
	for _, a := range as {
		if m, ok := a.event.(*provider.Message); ok && m.Chat.Group {
			if h, hidden := hiddenOf(a.reference.ID, m.From.Address); hidden {
				u.hidden.add(h)
			}
		}
	}
}

func (u *batch) writeHidden(ctx context.Context) error {
	slices.SortFunc(u.hidden.items, func(a, b hiddenID) int {
		return compareNames(chatName{a.reference, typedID{idLID, a.lid}}, chatName{b.reference, typedID{idLID, b.lid}})
	})
	rows := make([][]any, len(u.hidden.items))
	for i, h := range u.hidden.items {
		rows[i] = []any{h.reference, h.lid, h.chatID}
	}
	err := u.insert(ctx, `INSERT INTO messaging_lid (reference, lid, chat_id)`, []string{"BIGINT", "TEXT", "TEXT"}, rows, ` ON CONFLICT (reference, lid) DO NOTHING`)
	if err != nil {
		return fmt.Errorf("noting hidden ids: %w", err)
	}
	return nil
}

// hiddenChatID is the chat id of a participant that is known by a LID; "":
// nobody is.
func (s *Service) hiddenChatID(ctx context.Context, q sqlx.QueryerContext, ref provider.ReferenceID, lid string) (string, error) {
	var chatID string
	err := sqlx.GetContext(ctx, q, &chatID, `SELECT chat_id FROM messaging_lid WHERE reference = $1 AND lid = $2`, ref, lid)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading a hidden id: %w", err)
	}
	return chatID, nil
}
