package cloud

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// management is the permission whose targets are business accounts.
const management = "whatsapp_business_management"

// maxAccounts limits how many business accounts are searched for a number, and
// maxNumberPages how many pages of numbers of each.
const (
	maxAccounts    = 50
	maxNumberPages = 20
)

// AccountUnknown is the kind of the warning that the business account of a
// number is not known.
const AccountUnknown = "account.unknown"

// Complete finds the business account of the number if the setting is missing.
// It searches the accounts of the token for the number.
//
// See https://developers.facebook.com/docs/whatsapp/embedded-signup/manage-accounts
func (p *Provider) Complete(ctx context.Context, s provider.Settings) (provider.Settings, error) {
	if strings.TrimSpace(s[businessAccountID]) != "" {
		return nil, nil
	}
	c, err := p.Client(s)
	if err != nil {
		return nil, err
	}
	token, err := c.graph.Token(ctx)
	if err != nil {
		return nil, c.failed(ctx, "asking for the accounts of the token", err)
	}
	accounts := token.Targets[management]
	if len(accounts) == 0 {
		return nil, &provider.Rejected{Message: "the access token has no business account"}
	}
	var refused error
	for _, id := range accounts[:min(len(accounts), maxAccounts)] {
		if id == "" || !digits(id) {
			continue
		}
		of := *c
		of.waba = id
		switch has, err := of.hasNumber(ctx); {
		case has:
			return provider.Settings{businessAccountID: id}, nil
		case err != nil:
			refused = err // another account may have it
		}
	}
	if refused != nil {
		return nil, refused
	}
	return nil, &provider.Rejected{Message: fmt.Sprintf("none of the %d business accounts of the access token has the phone number", len(accounts))}
}

// hasNumber reports whether the business account has the client's phone number.
func (c *Client) hasNumber(ctx context.Context) (bool, error) {
	cursor := ""
	for range maxNumberPages {
		numbers, next, err := c.Numbers(ctx, cursor)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(numbers, func(n Number) bool { return n.ID == c.phone }) {
			return true, nil
		}
		if next == "" || next == cursor {
			break
		}
		cursor = next
	}
	return false, nil
}

// Inspect warns if callbacks cannot be verified, and if the business account is
// not known.
func (*Provider) Inspect(s provider.Settings) []provider.Health {
	out := graph.Inspect(s)
	if strings.TrimSpace(s[businessAccountID]) == "" {
		out = append(out, graph.Lacking(AccountUnknown, businessAccountID+" is missing, and the network has not told it: templates and events of the account need it. "+
			"Set it, or start the session to ask the network again"))
	}
	return out
}
