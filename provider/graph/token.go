package graph

import (
	"context"
	"net/url"
	"time"
)

// Token describes an access token.
type Token struct {
	Valid   bool
	AppID   string
	Expires time.Time // zero: never, or not known
	Scopes  []string  // the permissions
	// Targets are the ids that a permission is restricted to, the newest first:
	// of business accounts for whatsapp_business_management. A permission
	// without restriction has none.
	Targets map[string][]string
}

// Token asks the API about the client's own token. Its errors are those of
// [Client.Get].
//
// See https://developers.facebook.com/docs/graph-api/reference/debug_token
func (c *Client) Token(ctx context.Context) (Token, error) {
	var out struct {
		Data struct {
			Valid      bool     `json:"is_valid"`
			AppID      ID       `json:"app_id"`
			Expires    Time     `json:"expires_at"`
			DataAccess Time     `json:"data_access_expires_at"`
			Scopes     []string `json:"scopes"`
			Granular   []struct {
				Scope   string `json:"scope"`
				Targets []ID   `json:"target_ids"`
			} `json:"granular_scopes"`
		} `json:"data"`
	}
	if err := c.Get(ctx, "debug_token", url.Values{"input_token": {c.token}}, &out); err != nil {
		return Token{}, err
	}
	d := out.Data
	t := Token{Valid: d.Valid, AppID: string(d.AppID), Expires: d.Expires.Time, Scopes: d.Scopes}
	for _, g := range d.Granular {
		if t.Targets == nil {
			t.Targets = map[string][]string{}
		}
		for _, id := range g.Targets {
			t.Targets[g.Scope] = append(t.Targets[g.Scope], string(id))
		}
	}
	if end := d.DataAccess.Time; !end.IsZero() && (t.Expires.IsZero() || end.Before(t.Expires)) {
		t.Expires = end
	}
	return t, nil
}
