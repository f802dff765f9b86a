package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// fillVote gives the body of a vote its poll, which is loaded, and checks the
// vote against it. Other content stays as it is.
func fillVote(u *store.Batch, body *payload.Body, content provider.Content, c *store.Chat) error {
	v, ok := content.(provider.Vote)
	if !ok {
		return nil
	}
	var poll *payload.Poll
	for _, m := range u.Messages {
		if m.ID == v.MessageID && m.Chat == c.ID {
			poll = ingest.PollIn(m.Body)
		}
	}
	if poll == nil {
		return &payload.Invalid{Field: "message.messageId", Message: "must be the id of a poll"}
	}
	for i, o := range v.Options {
		if !slices.Contains(poll.Options, o) {
			return &payload.Invalid{Field: render.Indexed("message.options", i), Message: "must be an option of the poll"}
		}
	}
	if len(v.Options) > 1 && !poll.Multiple {
		return &payload.Invalid{Field: "message.options", Message: "must be at most 1: the poll allows one option"}
	}
	body.Poll.Question, body.Poll.Options, body.Poll.Multiple = poll.Question, poll.Options, poll.Multiple
	body.Poll.MessageID, body.Reply = v.MessageID, nil
	return nil
}

// countOwnVote counts a vote of the account, which the network has accepted.
func countOwnVote(ctx context.Context, u *store.Batch, l store.ReferenceInfo, m *store.Message) error {
	if !strings.Contains(m.Body, `"poll":`) {
		return nil
	}
	var body payload.Body
	_ = json.Unmarshal([]byte(m.Body), &body) // written by this package
	if !body.Poll.IsVote() {
		return nil
	}
	at, err := u.Locate(ctx, []store.MessageKey{{Reference: m.Reference, ID: body.Poll.MessageID}})
	if err != nil || len(at) == 0 || at[0].Chat != m.Chat {
		return err
	}
	if u.Messages[at[0].Seq] == nil {
		if err := u.Load(ctx, []int64{at[0].Seq}); err != nil {
			return err
		}
	}
	poll := u.Messages[at[0].Seq]
	if poll == nil {
		return nil // deleted meanwhile
	}
	var account string
	if err := u.Tx.GetContext(ctx, &account, `SELECT remote_id FROM messaging_reference WHERE id = $1`, m.Reference); err != nil {
		return fmt.Errorf("reading the account of a reference: %w", err)
	}
	name := provider.Address{ChatID: account}.RemoteJID()
	ingest.CountVote(u, l, poll, []string{name}, body.Poll.Selected)
	return nil
}
