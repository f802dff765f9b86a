package messaging

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// target is the id of the message that content is about, "" when it is about
// none.
func target(c provider.Content) string {
	switch v := c.(type) {
	case provider.Reaction:
		return v.MessageID
	case provider.Edit:
		return v.MessageID
	case provider.Revoke:
		return v.MessageID
	}
	return ""
}

// aimedAt is content about another message.
func aimedAt(c provider.Content, id string) provider.Content {
	switch v := c.(type) {
	case provider.Reaction:
		v.MessageID = id
		return v
	case provider.Edit:
		v.MessageID = id
		return v
	case provider.Revoke:
		v.MessageID = id
		return v
	}
	return c
}

// aimed is what will be sent of a prepared message, about a message by the network's id.
// Only a reaction may be to a message that is not stored here.
func aimed(ctx context.Context, u *store.Batch, d preparedMessage, c *store.Chat) (provider.Content, error) {
	id := store.Sanitize(target(d.content))
	if id == "" {
		return d.content, nil
	}
	at, err := u.Locate(ctx, []store.MessageKey{{Reference: d.line.ID, ID: id}})
	if err != nil {
		return nil, err
	}
	_, reaction := d.content.(provider.Reaction)
	switch {
	case reaction && len(at) == 0:
		return d.content, nil
	case len(at) == 0 || at[0].Chat != c.ID:
		return nil, &Invalid{Field: "message.messageId", Message: "names no message of this chat"}
	}
	if err := u.Load(ctx, []int64{at[0].Seq}); err != nil {
		return nil, err
	}
	if m := u.Messages[at[0].Seq]; !reaction && m != nil && !m.Mine {
		return nil, &Invalid{Field: "message.messageId", Message: "must name a message of the account itself"}
	}
	return aimedAt(d.content, at[0].ID), nil
}

// named gives what a job is about, and what it answers, the ids that the
// network has chosen meanwhile.
func (s *Service) named(ctx context.Context, j *job, content provider.Content) (provider.Content, error) {
	for _, id := range []string{target(content), j.ReplyTo} {
		if id == "" {
			continue
		}
		var now []string
		err := s.db.SelectContext(ctx, &now, `SELECT m.id FROM messaging_outbound o JOIN messaging_message m ON m.seq = o.message
			WHERE o.reference = $1 AND o.own_id = $2`, j.Reference, id)
		if err != nil {
			return nil, fmt.Errorf("naming a message: %w", err)
		}
		if len(now) == 0 {
			continue
		}
		if id == j.ReplyTo {
			j.ReplyTo = now[0]
		}
		if id == target(content) {
			content = aimedAt(content, now[0])
		}
	}
	return content, nil
}
