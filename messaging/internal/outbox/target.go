package outbox

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
)

// Target is the id of the message that content is about, "" when it is about
// none.
func Target(c provider.Content) string {
	switch v := c.(type) {
	case provider.Reaction:
		return v.MessageID
	case provider.Edit:
		return v.MessageID
	case provider.Revoke:
		return v.MessageID
	case provider.Vote:
		return v.MessageID
	}
	return ""
}

// AimedAt is content about another message.
func AimedAt(c provider.Content, id string) provider.Content {
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
	case provider.Vote:
		v.MessageID = id
		return v
	}
	return c
}

// named gives what a job is about, and what it answers, the ids that the
// network has chosen meanwhile.
func (s *Sender) named(ctx context.Context, j *job, content provider.Content) (provider.Content, error) {
	for _, id := range []string{Target(content), j.ReplyTo} {
		if id == "" {
			continue
		}
		var now []string
		err := s.Store.DB.SelectContext(ctx, &now, `SELECT m.id FROM messaging_outbound o JOIN messaging_message m ON m.seq = o.message
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
		if id == Target(content) {
			content = AimedAt(content, now[0])
		}
	}
	return content, nil
}
