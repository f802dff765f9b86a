package messenger

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Page is whom the access token speaks for.
type Page struct {
	ID   string
	Name string
}

// Page asks whom the token speaks for.
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

// fields are what of a page is of interest here.
// https://developers.facebook.com/docs/messenger-platform/webhooks#webhook-events
var fields = []string{
	"messages", "message_echoes", "message_deliveries", "message_reads", "message_reactions", "message_edits",
	"messaging_postbacks", "messaging_referrals", "messaging_optins", "messaging_handovers", "standby",
	"messaging_account_linking", "messaging_policy_enforcement",
}

// Subscribe asks for the page's events. They go where the app's dashboard says.
//
// See https://developers.facebook.com/docs/graph-api/reference/page/subscribed_apps
func (c *Client) Subscribe(ctx context.Context) error {
	query := url.Values{"subscribed_fields": {strings.Join(fields, ",")}}
	return c.confirmed(ctx, "subscribing to the page", c.page+"/subscribed_apps?"+query.Encode(), nil)
}

// App is an app that gets the page's events.
type App struct {
	ID     string
	Name   string
	Fields []string
}

// Apps lists who is subscribed to the page.
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

// Check asks whom the token speaks for, which must be the page, subscribes to
// its events, and asks how long the token lives. What the network does not
// tell of that costs nothing.
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

// Subscribe asks for the page's events. A page has no callback address of its
// own.
func (s *session) Subscribe(ctx context.Context, callbackURL string) error {
	if err := s.Alive(); err != nil {
		return err
	}
	if callbackURL != "" {
		return &provider.Invalid{Field: "callbackUrl", Message: "cannot be set for a page: its callbacks go to the address in the app's dashboard"}
	}
	return s.Client.Subscribe(ctx)
}

// Profile is a person as the network shows them to the page. All of it may be
// "".
type Profile struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Picture   string `json:"profile_pic"` // an address that ends some day
	Locale    string `json:"locale"`      // needs a permission of its own
}

// Name is the whole name.
func (p Profile) Name() string { return strings.TrimSpace(p.FirstName + " " + p.LastName) }

// Profile asks for a person by the page-scoped id.
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
	_ = json.Unmarshal(raw, &p) // what is not of its type is not known
	return p, nil
}
