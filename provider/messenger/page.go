package messenger

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Page is the page of the access token.
type Page struct {
	ID   string
	Name string
}

// Page returns the page of the access token.
func (c *Client) Page(ctx context.Context) (Page, error) {
	var out struct {
		ID   graph.ID `json:"id"`
		Name string   `json:"name"`
	}
	if err := c.graph.Get(ctx, "me", url.Values{"fields": {"id,name"}}, &out); err != nil {
		return Page{}, c.failed(ctx, "reading the page", err)
	}
	return Page{string(out.ID), out.Name}, nil
}

// fields are the fields of a page that are read.
// https://developers.facebook.com/docs/messenger-platform/webhooks#webhook-events
var fields = []string{
	"messages", "message_echoes", "message_deliveries", "message_reads", "message_reactions", "message_edits",
	"messaging_postbacks", "messaging_referrals", "messaging_optins", "messaging_handovers", "standby",
	"messaging_account_linking", "messaging_policy_enforcement",
}

// Subscribe subscribes to the page's events, which go to the address in the
// app's dashboard.
//
// See https://developers.facebook.com/docs/graph-api/reference/page/subscribed_apps
func (c *Client) Subscribe(ctx context.Context) error {
	query := url.Values{"subscribed_fields": {strings.Join(fields, ",")}}
	return c.confirmed(ctx, "subscribing to the page", c.page+"/subscribed_apps?"+query.Encode(), nil)
}

// App is an app that is subscribed to the page's events.
type App struct {
	ID     string
	Name   string
	Fields []string
}

// Apps lists the apps that are subscribed to the page.
func (c *Client) Apps(ctx context.Context) ([]App, error) {
	var out struct {
		Data []struct {
			ID     graph.ID `json:"id"`
			Name   string   `json:"name"`
			Fields []string `json:"subscribed_fields"`
		} `json:"data"`
	}
	if err := c.graph.Get(ctx, c.page+"/subscribed_apps", nil, &out); err != nil {
		return nil, c.failed(ctx, "reading the subscriptions of the page", err)
	}
	apps := make([]App, len(out.Data))
	for i, a := range out.Data {
		apps[i] = App{string(a.ID), a.Name, a.Fields}
	}
	return apps, nil
}

// Check checks that the token is that of the page, subscribes to the page's
// events, and reads how long the token is valid. What the network does not
// report is left out.
func (s *session) Check(ctx context.Context) (provider.Account, error) {
	if err := s.Alive(); err != nil {
		return provider.Account{}, err
	}
	p, err := s.Page(ctx)
	if err != nil {
		return provider.Account{}, err
	}
	if p.ID != s.page {
		return provider.Account{}, &provider.Rejected{Message: "the access token is not that of the page " + s.page + ": it speaks for " + strings.TrimSpace(p.Name+" ("+p.ID+")")}
	}
	if err := s.Client.Subscribe(ctx); err != nil {
		return provider.Account{}, err
	}
	account := provider.Account{ID: p.ID, Name: p.Name}
	if h, reported := s.graph.TokenHealth(ctx, s.log); reported {
		account.Health = append(account.Health, h)
	}
	return account, nil
}

// Subscribe subscribes to the page's events. A page has no callback address of
// its own.
func (s *session) Subscribe(ctx context.Context, callbackURL string) error {
	if err := s.Alive(); err != nil {
		return err
	}
	if callbackURL != "" {
		return &provider.Invalid{Field: "callbackUrl", Message: "cannot be set for a page: its callbacks go to the address in the app's dashboard"}
	}
	return s.Client.Subscribe(ctx)
}

// Profile is the profile of a person that the network shows to the page. All
// fields may be "".
type Profile struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Picture   string `json:"profile_pic"` // an address that expires
	Locale    string `json:"locale"`      // requires a separate permission
}

// Name returns the full name.
func (p Profile) Name() string { return strings.TrimSpace(p.FirstName + " " + p.LastName) }

// Profile returns the profile of a person by the page-scoped id.
//
// See https://developers.facebook.com/docs/messenger-platform/identity/user-profile
func (c *Client) Profile(ctx context.Context, id string) (Profile, error) {
	var p Profile
	if person(id).ChatID == "" {
		return p, &provider.BadRecipient{Message: "the contact has no page-scoped id"}
	}
	var raw json.RawMessage
	if err := c.graph.Get(ctx, id, url.Values{"fields": {"first_name,last_name,profile_pic"}}, &raw); err != nil {
		return p, c.failed(ctx, "reading a profile", err)
	}
	_ = json.Unmarshal(raw, &p) // a value of another type is not known
	return p, nil
}
