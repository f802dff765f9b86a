package graphtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// profile stores and returns the business profile of a number.
func (e *accountEndpoint) profile(l Number, c *call) *reply {
	if c.method == http.MethodGet {
		e.fake.mu.Lock()
		defer e.fake.mu.Unlock()
		stored := map[string]any{"messaging_product": "whatsapp"}
		for name, value := range e.profiles[l.PhoneNumberID] {
			stored[name] = value
		}
		return ok(map[string]any{"data": []any{stored}})
	}
	var in map[string]json.RawMessage
	if json.Unmarshal(c.body, &in) != nil || string(in["messaging_product"]) != `"whatsapp"` {
		return refuse(100, "(#100) The parameter messaging_product is required.")
	}
	delete(in, "messaging_product")
	e.fake.record(func() {
		if e.profiles[l.PhoneNumberID] == nil {
			e.profiles[l.PhoneNumberID] = map[string]json.RawMessage{}
		}
		for name, value := range in {
			e.profiles[l.PhoneNumberID][name] = value
		}
	})
	return success
}

func register(body []byte) *reply {
	var in struct {
		Product string `json:"messaging_product"`
		PIN     string `json:"pin"`
		Tier    string `json:"tier"`
		Region  string `json:"data_localization_region"`
	}
	if err := strict(body, &in); err != nil || in.Product != "whatsapp" {
		return refuse(100, "(#100) Invalid parameter")
	}
	if len(in.PIN) != 6 {
		return refuse(133005, "(#133005) Two step verification PIN mismatch")
	}
	return success
}

// setNumber sets the callback of a number. The fake stores it but does not post
// to it.
func setNumber(body []byte) *reply {
	var in struct {
		Callback struct {
			URL   string `json:"override_callback_uri"`
			Token string `json:"verify_token"`
		} `json:"webhook_configuration"`
	}
	if err := strict(body, &in); err != nil {
		return refuse(100, "(#100) %v", err)
	}
	return success
}

// debugToken describes the token of a number or page.
func (e *accountEndpoint) debugToken(c *call) *reply {
	input := c.query["input_token"]
	if len(input) == 0 {
		input = []string{""}
	}
	e.fake.mu.Lock()
	defer e.fake.mu.Unlock()
	for _, l := range e.fake.numbers {
		if l.AccessToken == input[0] {
			return e.tokenInfo("SYSTEM_USER", "100000000000001", l.TokenExpires, e.targets(l.AccessToken), "whatsapp_business_management", "whatsapp_business_messaging")
		}
	}
	for _, p := range e.fake.Pages.known {
		if p.AccessToken == input[0] {
			return e.tokenInfo("PAGE", p.app(), p.TokenExpires, nil, "pages_messaging", "pages_manage_metadata")
		}
	}
	return ok(map[string]any{"data": map[string]any{"is_valid": false, "scopes": []string{}}})
}

// targets returns the business accounts that a token is restricted to.
func (e *accountEndpoint) targets(token string) []string {
	out := []string{}
	for _, l := range e.fake.numbers {
		if l.AccessToken == token && !l.AllAccounts && !slices.Contains(out, l.BusinessAccountID) {
			out = append(out, l.BusinessAccountID)
		}
	}
	return out
}

func (e *accountEndpoint) tokenInfo(kind, app string, end time.Time, targets []string, scopes ...string) *reply {
	expires := int64(0)
	if !end.IsZero() {
		expires = end.Unix()
	}
	granular := []any{}
	for _, scope := range scopes {
		g := map[string]any{"scope": scope}
		if len(targets) > 0 { // otherwise it is for all
			g["target_ids"] = targets
		}
		granular = append(granular, g)
	}
	return ok(map[string]any{"data": map[string]any{
		"granular_scopes": granular, "app_id": app, "type": kind, "is_valid": expires == 0 || end.After(e.fake.opts.Now()),
		"expires_at": expires, "data_access_expires_at": 0, "scopes": scopes,
	}})
}
