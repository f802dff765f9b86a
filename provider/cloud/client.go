package cloud

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Client makes the typed calls of the Cloud API for one phone number and the
// business account above it. A [provider.Session] of this package uses one. A
// program that needs more than the common contract creates its own.
//
// Its errors are those of package provider. If the outcome of a call is
// uncertain, [Client.Send] fails with a [*provider.Ambiguous], and a call that
// may be repeated with a [*provider.Temporary]. It may be used concurrently.
type Client struct {
	graph   *graph.Client
	limiter *limiter
	phone   string // id of the phone number
	waba    string // id of the business account; "": not known
	log     *slog.Logger
}

// Client returns the client of the reference that the settings describe. It
// fails if a setting is missing or cannot be an id.
func (p *Provider) Client(settings provider.Settings) (*Client, error) {
	s, err := graph.Trimmed(p.Settings(), settings)
	if err != nil {
		return nil, err
	}
	return &Client{
		graph:   p.graph.As(s[graph.AccessToken]),
		limiter: p.limiter,
		phone:   s[phoneNumberID],
		waba:    s[businessAccountID],
		log:     p.log,
	}, nil
}

// account returns a path below the business account.
func (c *Client) account(edge string) (string, error) {
	if c.waba == "" {
		return "", &provider.Unsupported{What: "calls for its business account: " + businessAccountID + " is not known"}
	}
	return c.waba + "/" + edge, nil
}

func (c *Client) failed(ctx context.Context, doing string, err error) error {
	graph.Trace(ctx, c.log, err)
	return fmt.Errorf("cloud: %s: %w", doing, graph.CallError(err))
}

// confirmed makes a call whose answer is {"success": true}.
func (c *Client) confirmed(ctx context.Context, doing, path string, body any) error {
	var done graph.Confirmation
	if err := c.graph.Post(ctx, path, body, &done); err != nil {
		return c.failed(ctx, doing, err)
	}
	return done.Check(doing)
}

// MarkRead marks a message, and those before it, as read. With typing it also
// shows that the account is typing, for at most 25 seconds or until a message
// is sent.
//
// See https://developers.facebook.com/docs/whatsapp/cloud-api/typing-indicators
func (c *Client) MarkRead(ctx context.Context, messageID string, typing bool) error {
	type indicator struct {
		Type string `json:"type"`
	}
	body := struct {
		Product   string     `json:"messaging_product"`
		Status    string     `json:"status"`
		MessageID string     `json:"message_id"`
		Typing    *indicator `json:"typing_indicator,omitempty"`
	}{Product: product, Status: "read", MessageID: messageID}
	if typing {
		body.Typing = &indicator{"text"}
	}
	return c.confirmed(ctx, "marking a message read", c.phone+"/messages", body)
}
