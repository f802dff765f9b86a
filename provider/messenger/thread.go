package messenger

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// PassThread hands the conversation with a person to another app.
//
// See https://developers.facebook.com/docs/messenger-platform/handover-protocol
func (c *Client) PassThread(ctx context.Context, to Recipient, app, metadata string) error {
	return c.thread(ctx, "passing a thread", "pass_thread_control", to, app, metadata)
}

// TakeThread takes the conversation with a person from the app that has it.
func (c *Client) TakeThread(ctx context.Context, to Recipient, metadata string) error {
	return c.thread(ctx, "taking a thread", "take_thread_control", to, "", metadata)
}

// RequestThread asks the app that has the conversation with a person to hand it
// over.
func (c *Client) RequestThread(ctx context.Context, to Recipient, metadata string) error {
	return c.thread(ctx, "asking for a thread", "request_thread_control", to, "", metadata)
}

func (c *Client) thread(ctx context.Context, doing, edge string, to Recipient, app, metadata string) error {
	r := &graph.Rules{}
	r.Must(app == "" || person(app).ChatID != "", "targetAppId", "must be digits")
	if err := r.Result(); err != nil {
		return err
	}
	return c.confirmed(ctx, doing, c.page+"/"+edge, struct {
		Recipient Recipient   `json:"recipient"`
		App       json.Number `json:"target_app_id,omitempty"`
		Metadata  string      `json:"metadata,omitempty"`
	}{to, json.Number(app), metadata})
}

// Persona is a name and a picture with which the page can send.
type Persona struct {
	ID      string `json:"id,omitempty"`
	Name    string `json:"name"`
	Picture string `json:"profile_picture_url"` // an address
}

// CreatePersona creates a persona and returns its id.
//
// See https://developers.facebook.com/docs/messenger-platform/send-messages/personas
func (c *Client) CreatePersona(ctx context.Context, p Persona) (id string, err error) {
	p.ID = ""
	var out Persona
	if err := c.graph.Post(ctx, c.page+"/personas", p, &out); err != nil {
		return "", c.failed(ctx, "making a persona", err)
	}
	return out.ID, nil
}

// Persona returns a persona.
func (c *Client) Persona(ctx context.Context, id string) (Persona, error) {
	var p Persona
	if person(id).ChatID == "" {
		return p, &provider.Invalid{Field: "persona", Message: "must be digits"}
	}
	if err := c.graph.Get(ctx, id, url.Values{"fields": {"id,name,profile_picture_url"}}, &p); err != nil {
		return p, c.failed(ctx, "reading a persona", err)
	}
	return p, nil
}

// DeletePersona deletes a persona.
func (c *Client) DeletePersona(ctx context.Context, id string) error {
	if person(id).ChatID == "" {
		return &provider.Invalid{Field: "persona", Message: "must be digits"}
	}
	var done graph.Confirmation
	if err := c.graph.Delete(ctx, id, nil, &done); err != nil {
		return c.failed(ctx, "deleting a persona", err)
	}
	return done.Check("deleting a persona")
}
