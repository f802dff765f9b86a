package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

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
	graph *graph.Client
	pace  *pace
	phone string // id of the phone number
	waba  string // id of the business account
	log   *slog.Logger
}

// Client returns the calls of the line that settings describe. A setting that
// is missing, or that cannot be an id, is an error.
func (p *Provider) Client(settings provider.Settings) (*Client, error) {
	for _, s := range p.Settings() {
		if s.Required && strings.TrimSpace(settings[s.Name]) == "" {
			return nil, fmt.Errorf("setting %s is missing", s.Name)
		}
	}
	c := &Client{
		graph: p.graph.As(strings.TrimSpace(settings[accessToken])),
		pace:  p.pace,
		phone: strings.TrimSpace(settings[phoneNumberID]),
		waba:  strings.TrimSpace(settings[businessAccountID]),
		log:   p.log,
	}
	for name, id := range map[string]string{phoneNumberID: c.phone, businessAccountID: c.waba} {
		if !digits(id) {
			return nil, fmt.Errorf("setting %s must be digits", name)
		}
	}
	return c, nil
}

func (c *Client) failed(ctx context.Context, doing string, err error) error {
	c.trace(ctx, err)
	return fmt.Errorf("cloud: %s: %w", doing, graph.CallError(err))
}

// trace logs by what name Meta's support finds a refused request; the error
// that goes to the caller is for users and has no room for it.
func (c *Client) trace(ctx context.Context, err error) {
	if e, ok := errors.AsType[*graph.Error](err); ok {
		c.log.InfoContext(ctx, "graph refused a request", slog.Int("code", e.Code), slog.Int("subcode", e.Subcode),
			slog.Int("http_status", e.HTTPStatus), slog.String("fbtrace_id", e.FBTraceID))
	}
}

// confirmed makes a call whose answer is {"success": true}.
func (c *Client) confirmed(ctx context.Context, doing, path string, body any) error {
	var done confirmation
	if err := c.graph.Post(ctx, path, body, &done); err != nil {
		return c.failed(ctx, doing, err)
	}
	return done.check(doing)
}

// confirmation is true, or "true".
type confirmation struct {
	Success json.RawMessage `json:"success"`
}

func (c *confirmation) check(doing string) error {
	if success(c.Success) {
		return nil
	}
	return &provider.Rejected{Message: "the network did not confirm " + doing}
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
