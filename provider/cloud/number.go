package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Number is a phone number as the network reports it. Fields that it does not
// report are "".
//
// See https://developers.facebook.com/docs/whatsapp/business-management-api/manage-phone-numbers
type Number struct {
	ID           string
	Display      string // formatted for people
	VerifiedName string
	Quality      string // GREEN, YELLOW, RED, NA
	Status       string // CONNECTED, …
	Throughput   string // STANDARD, HIGH, NOT_APPLICABLE
	Limit        string // how many people may be written to in a day: TIER_2K
	CanSend      string // AVAILABLE, LIMITED, BLOCKED
	OnPhone      bool   // the WhatsApp Business app also uses it
}

// Fields that every version has, and those that a version may refuse.
const (
	numberFields = "id,display_phone_number,verified_name,quality_rating,code_verification_status"
	healthFields = "id,status,throughput,is_on_biz_app,health_status,whatsapp_business_manager_messaging_limit"
)

// UnmarshalJSON decodes a number in the formats that the network uses.
func (n *Number) UnmarshalJSON(raw []byte) error {
	var in struct {
		ID         graph.ID               `json:"id"`
		Display    string                 `json:"display_phone_number"`
		Verified   string                 `json:"verified_name"`
		Quality    string                 `json:"quality_rating"`
		Score      struct{ Score string } `json:"quality_score"`
		Status     string                 `json:"status"`
		Throughput struct{ Level string } `json:"throughput"`
		Limit      string                 `json:"whatsapp_business_manager_messaging_limit"`
		Tier       string                 `json:"messaging_limit_tier"`
		OnPhone    bool                   `json:"is_on_biz_app"`
		Health     struct {
			CanSend string `json:"can_send_message"`
		} `json:"health_status"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	*n = Number{
		ID: string(in.ID), Display: in.Display, VerifiedName: in.Verified, Quality: first(in.Quality, in.Score.Score),
		Status: in.Status, Throughput: in.Throughput.Level, Limit: first(in.Limit, in.Tier), CanSend: in.Health.CanSend, OnPhone: in.OnPhone,
	}
	return nil
}

// Number reads the reference's phone number.
func (c *Client) Number(ctx context.Context) (Number, error) { return c.number(ctx, numberFields) }

func (c *Client) number(ctx context.Context, fields string) (Number, error) {
	var n Number
	if err := c.graph.Get(ctx, c.phone, url.Values{"fields": {fields}}, &n); err != nil {
		return Number{}, c.failed(ctx, "reading the phone number", err)
	}
	return n, nil
}

// page is a page of a list. Another one follows if Next is not empty: the last
// page also has a cursor.
type page[T any] struct {
	Data   []T `json:"data"`
	Paging struct {
		Cursors struct {
			Before graph.ID `json:"before"`
			After  graph.ID `json:"after"`
		} `json:"cursors"`
		Next string `json:"next"` // a URL that may contain the token: never followed or logged
	} `json:"paging"`
}

// next returns the cursor of the next page, or "".
func (p *page[T]) next() string {
	if p.Paging.Next == "" {
		return ""
	}
	return string(p.Paging.Cursors.After)
}

// Numbers returns a page of the phone numbers of the business account and the
// cursor of the next page. "" is the cursor of the first page, and is returned
// with the last.
func (c *Client) Numbers(ctx context.Context, cursor string) (numbers []Number, next string, err error) {
	query := url.Values{}
	if cursor != "" {
		query.Set("after", cursor)
	}
	path, err := c.account("phone_numbers")
	if err != nil {
		return nil, "", err
	}
	var p page[Number]
	if err := c.graph.Get(ctx, path, query, &p); err != nil {
		return nil, "", c.failed(ctx, "listing the phone numbers", err)
	}
	return p.Data, p.next(), nil
}

// Registration connects a phone number to the Cloud API.
type Registration struct {
	PIN    string `json:"pin"`                                // six digits of the two-step verification, which is set if there is none
	Region string `json:"data_localization_region,omitempty"` // country code: where messages are stored; "": anywhere
	Tier   string `json:"tier,omitempty"`                     // a deprecated parameter of the API, or ""
}

// Register connects the number. The network allows ten attempts in 72 hours.
//
// See https://developers.facebook.com/docs/whatsapp/cloud-api/reference/registration
func (c *Client) Register(ctx context.Context, how Registration) error {
	if len(how.PIN) != 6 || !digits(how.PIN) {
		return &provider.Invalid{Field: "pin", Message: "must be six digits"}
	}
	return c.confirmed(ctx, "registering the phone number", c.phone+"/register", struct {
		Product string `json:"messaging_product"`
		Registration
	}{product, how})
}

// maxCallbackURL limits the length of a callback address.
const maxCallbackURL = 200

// override is a callback address that replaces the app's.
type override struct {
	URL   string `json:"override_callback_uri"`
	Token string `json:"verify_token,omitempty"`
}

// SetCallback sends this number's events to an address of its own, which the
// network verifies at once; "" removes the address.
//
// See https://developers.facebook.com/docs/whatsapp/embedded-signup/webhooks/override
func (c *Client) SetCallback(ctx context.Context, callbackURL, verifyToken string) error {
	r := &graph.Rules{}
	r.MaxLength("callbackUrl", callbackURL, maxCallbackURL)
	if err := r.Result(); err != nil {
		return err
	}
	return c.confirmed(ctx, "setting the number's callback", c.phone, map[string]override{
		"webhook_configuration": {callbackURL, verifyToken},
	})
}

// Callbacks are the addresses for events of a number. The first one that is set
// is used.
type Callbacks struct {
	Number  string `json:"phone_number"`
	Account string `json:"whatsapp_business_account"`
	App     string `json:"application"`

	NumberID string `json:"-"`
}

// Callbacks returns the addresses for the number's events.
func (c *Client) Callbacks(ctx context.Context) (Callbacks, error) {
	var out struct {
		ID        graph.ID  `json:"id"`
		Callbacks Callbacks `json:"webhook_configuration"`
	}
	if err := c.graph.Get(ctx, c.phone, url.Values{"fields": {"webhook_configuration"}}, &out); err != nil {
		return Callbacks{}, c.failed(ctx, "reading the callbacks", err)
	}
	out.Callbacks.NumberID = string(out.ID)
	return out.Callbacks, nil
}

// Subscribe subscribes the app to the business account's events. Without a
// callbackURL they go to the address in the app's dashboard, and an address of
// the account's own is removed. A first callbackURL must follow a call without
// one. The network verifies the address with verifyToken at once.
//
// See https://developers.facebook.com/docs/graph-api/reference/whats-app-business-account/subscribed_apps
func (c *Client) Subscribe(ctx context.Context, callbackURL, verifyToken string) error {
	path, err := c.account("subscribed_apps")
	if err != nil {
		return err
	}
	if callbackURL == "" {
		return c.confirmed(ctx, "subscribing to the business account", path, nil)
	}
	r := &graph.Rules{}
	r.MaxLength("callbackUrl", callbackURL, maxCallbackURL)
	r.Must(verifyToken != "", "callbackUrl", "needs a verifyToken, with which the network verifies the address")
	if err := r.Result(); err != nil {
		return err
	}
	return c.confirmed(ctx, "subscribing to the business account", path, override{callbackURL, verifyToken})
}

// App is an app that is subscribed to the business account's events.
type App struct {
	ID          string
	Name        string
	CallbackURL string // an address of the account's own, or ""
}

// Apps lists the apps that are subscribed to the business account.
func (c *Client) Apps(ctx context.Context) ([]App, error) {
	var out struct {
		Data []struct {
			URL  string `json:"override_callback_uri"`
			Data struct {
				ID   graph.ID `json:"id"`
				Name string   `json:"name"`
			} `json:"whatsapp_business_api_data"`
		} `json:"data"`
	}
	path, err := c.account("subscribed_apps")
	if err != nil {
		return nil, err
	}
	if err := c.graph.Get(ctx, path, nil, &out); err != nil {
		return nil, c.failed(ctx, "reading the subscriptions of the business account", err)
	}
	apps := make([]App, len(out.Data))
	for i, a := range out.Data {
		apps[i] = App{string(a.Data.ID), a.Data.Name, a.URL}
	}
	return apps, nil
}

// Token describes the client's own access token.
func (c *Client) Token(ctx context.Context) (graph.Token, error) {
	t, err := c.graph.Token(ctx)
	if err != nil {
		return graph.Token{}, c.failed(ctx, "asking about the access token", err)
	}
	return t, nil
}

// Profile is the business profile that contacts see. Fields that are empty are
// not changed when it is set.
//
// See https://developers.facebook.com/docs/whatsapp/cloud-api/reference/business-profiles
type Profile struct {
	About         string   `json:"about,omitempty"`                  // at most 139 characters
	Address       string   `json:"address,omitempty"`                // at most 256
	Description   string   `json:"description,omitempty"`            // at most 512
	Email         string   `json:"email,omitempty"`                  // at most 128
	PictureHandle string   `json:"profile_picture_handle,omitempty"` // of an upload, to set the picture
	PictureURL    string   `json:"profile_picture_url,omitempty"`    // of the picture, when read
	Websites      []string `json:"websites,omitempty"`               // at most two of 256
	Vertical      string   `json:"vertical,omitempty"`               // the industry, such as RETAIL or RESTAURANT
}

const profileFields = "about,address,description,email,profile_picture_url,websites,vertical"

// Profile reads the number's business profile.
func (c *Client) Profile(ctx context.Context) (Profile, error) {
	var out struct {
		Data []struct {
			Profile
			Nested *Profile `json:"business_profile"` // as documented
		} `json:"data"`
	}
	if err := c.graph.Get(ctx, c.phone+"/whatsapp_business_profile", url.Values{"fields": {profileFields}}, &out); err != nil {
		return Profile{}, c.failed(ctx, "reading the business profile", err)
	}
	switch {
	case len(out.Data) == 0:
		return Profile{}, nil
	case out.Data[0].Nested != nil:
		return *out.Data[0].Nested, nil
	}
	return out.Data[0].Profile, nil
}

// SetProfile changes the fields that are set.
func (c *Client) SetProfile(ctx context.Context, p Profile) error {
	if err := p.validate(); err != nil {
		return err
	}
	p.PictureURL = ""
	return c.confirmed(ctx, "setting the business profile", c.phone+"/whatsapp_business_profile", struct {
		Product string `json:"messaging_product"`
		Profile
	}{product, p})
}

func (p Profile) validate() error {
	r := &graph.Rules{}
	r.MaxLength("about", p.About, 139)
	r.MaxLength("address", p.Address, 256)
	r.MaxLength("description", p.Description, 512)
	r.MaxLength("email", p.Email, 128)
	r.Must(len(p.Websites) <= 2, "websites", "must hold at most 2")
	for i, site := range p.Websites {
		at := fmt.Sprintf("websites[%d]", i)
		r.MaxLength(at, site, 256)
		r.Link(at, site)
	}
	return r.Result()
}
