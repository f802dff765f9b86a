package cloudapi

import (
	"context"
	"io"
	"net/http"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// sent is the answer to a message that was taken.
type sent struct {
	Product  string      `json:"messaging_product"`
	Contacts []recipient `json:"contacts"`
	Messages []accepted  `json:"messages"`
}

type recipient struct {
	Input string `json:"input"`
	WaID  string `json:"wa_id"`
}

type accepted struct {
	ID     string `json:"id"`
	Status string `json:"message_status,omitempty"` // of templates
}

// done is the answer to what needs none.
type done struct {
	Success bool `json:"success"`
}

// message sends a message, or marks messages as read.
func (a *API) message(ctx context.Context, c *call) (any, error) {
	ref, err := c.reference(ctx, auth.ChatsSend)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, httpapi.DefaultMaxBody))
	if err != nil {
		return nil, httpapi.UnreadableBody(err)
	}
	// No network takes U+0000 or what is no UTF-8, and not every database.
	req, err := cloud.DecodeRequest([]byte(text.Sanitize(string(jsonscan.WithoutNUL(body)))))
	if err != nil {
		return nil, err
	}
	if req.Read != "" {
		return c.markRead(ctx, ref, req)
	}
	return c.send(ctx, ref, req)
}

// markRead marks messages as read up to one.
func (c *call) markRead(ctx context.Context, ref messaging.Reference, req cloud.Request) (any, error) {
	m, err := c.account.Message(ctx, ref.ID, "", req.Read)
	if err != nil {
		return nil, err
	}
	mark := c.account.MarkRead
	if req.Typing {
		mark = c.account.MarkReadTyping
	}
	_, err = mark(ctx, ref.ID, m.ChatID, m.ID)
	return done{true}, err
}

func (c *call) send(ctx context.Context, ref messaging.Reference, req cloud.Request) (any, error) {
	content := req.Content
	if ref.Type != cloud.Kind {
		content = cloud.Portable(content)
	}
	only, all := c.caller.References(auth.ChatsSend)
	if all {
		only = nil
	}
	s, err := c.account.Send(ctx, messaging.SendRequest{
		Reference: ref.ID, ChatID: req.ChatID(), Content: content, ReplyTo: req.ReplyTo, ClientID: req.CallbackData,
		IdempotencyKey: c.r.Header.Get("Idempotency-Key"), Wait: messaging.DefaultWait, FilesOf: only,
	})
	if err != nil {
		return nil, err
	}
	out := sent{Product: "whatsapp", Contacts: []recipient{{req.To, s.Message.ChatID}}, Messages: []accepted{{ID: s.Message.ID}}}
	if _, ok := req.Content.(provider.Template); ok {
		out.Messages[0].Status = "accepted"
	}
	return out, nil
}
