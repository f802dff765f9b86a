package graphtest

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// phoneNumber answers with the requested fields.
func phoneNumber(l Number, query map[string][]string) *reply {
	all := map[string]any{
		"id":                       l.PhoneNumberID,
		"display_phone_number":     defaulted(l.DisplayNumber, "+1 555-078-3881"),
		"verified_name":            defaulted(l.VerifiedName, "Example Shop"),
		"quality_rating":           defaulted(l.Quality, "GREEN"),
		"code_verification_status": "VERIFIED",
		"name_status":              "APPROVED",
		"platform_type":            "CLOUD_API",
		"status":                   "CONNECTED",
		"throughput":               map[string]string{"level": defaulted(l.Throughput, "STANDARD")},
		"is_on_biz_app":            false,
		"health_status":            map[string]any{"can_send_message": "AVAILABLE", "entities": []any{}},
		"webhook_configuration":    map[string]string{"application": "https://app.example/callback"},

		"whatsapp_business_manager_messaging_limit": defaulted(l.Limit, "TIER_2K"),
	}
	fields := strings.Join(query["fields"], ",")
	fields = cmp.Or(fields, "verified_name,code_verification_status,display_phone_number,quality_rating,platform_type,throughput")
	answer := map[string]any{"id": l.PhoneNumberID}
	for field := range strings.SplitSeq(fields, ",") {
		value, known := all[field]
		if !known {
			return refuse(100, "(#100) Tried accessing nonexisting field (%s)", field)
		}
		answer[field] = value
	}
	return ok(answer)
}

// override is a callback of a business account.
type override struct{ url, token string }

// accountEndpoint answers for business accounts and their numbers:
// subscriptions, profiles and tokens.
type accountEndpoint struct {
	fake       *Server
	subscribed map[string]override                   // by business account
	profiles   map[string]map[string]json.RawMessage // by number
}

func (e *accountEndpoint) subscriptions(ctx context.Context, l Number, c *call) *reply {
	account := l.BusinessAccountID
	switch c.method {
	case http.MethodPost:
		return e.subscribe(ctx, l, c.body)
	case http.MethodDelete:
		e.fake.record(func() { delete(e.subscribed, account) })
		return success
	case http.MethodGet:
		e.fake.mu.Lock()
		defer e.fake.mu.Unlock()
		data := []map[string]any{}
		if o, is := e.subscribed[account]; is {
			app := map[string]any{"whatsapp_business_api_data": map[string]string{"id": "100000000000001", "name": "Example App", "link": "https://www.facebook.com/games/?app_id=100000000000001"}}
			if o.url != "" {
				app["override_callback_uri"] = o.url
			}
			data = append(data, app)
		}
		return ok(map[string]any{"data": data})
	}
	return absent(strings.ToLower(c.method), account)
}

// subscribe stores the subscription. It first verifies a callback of the
// account.
func (e *accountEndpoint) subscribe(ctx context.Context, l Number, body []byte) *reply {
	var in struct {
		URL   string `json:"override_callback_uri"`
		Token string `json:"verify_token"`
	}
	if len(body) > 0 {
		if err := strict(body, &in); err != nil {
			return refuse(100, "(#100) %v", err)
		}
	}
	if len(in.URL) > 200 {
		return refuse(100, "(#100) Param override_callback_uri must be at most 200 characters long.")
	}
	if in.URL != "" {
		if err := e.fake.post.handshake(ctx, in.URL, in.Token); err != nil {
			return refuse(2200, "(#2200) Callback verification failed with the following errors: %v", err)
		}
	}
	e.fake.record(func() { e.subscribed[l.BusinessAccountID] = override{in.URL, in.Token} })
	return success
}

// strict decodes exactly the members that v has.
func strict(body []byte, v any) error {
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func defaulted(s, or string) string {
	if s == "" {
		return or
	}
	return s
}
