package cloud

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Client makes the typed calls of the Cloud API for one phone number and the
// business account above it. A [provider.Session] of this package is built on
// one; a program that needs more than the common contract takes its own.
//
// Its errors are those of package provider: a call that may be repeated
// without harm fails with a [*provider.Temporary] where its outcome is
// uncertain, [Client.Send] with a [*provider.Ambiguous]. It may be used
// concurrently.
type Client struct {
	graph   *graph.Client
	limiter *limiter
	phone   string // id of the phone number
	waba    string // id of the business account; "": not known
	log     *slog.Logger
}

// Client returns the calls of the reference that settings describe. A setting that
// is missing, or that cannot be an id, is an error.
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

// account is the path of what belongs to the business account.
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

// MarkRead tells the contact that a message, and those before it, were read.
// With typing it also shows that an answer is being written: for 25 seconds at
// most, or until it is sent.
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
