package cloud

import (
	"context"
	"fmt"
	"net/url"

	"github.com/trunklinehq/trunkline/provider/graph"
)

// Profile is what contacts see of the business. Empty members are left as they
// are when it is set.
//
// See https://developers.facebook.com/docs/whatsapp/cloud-api/reference/business-profiles
type Profile struct {
	About         string   `json:"about,omitempty"`                  // at most 139 characters
	Address       string   `json:"address,omitempty"`                // at most 256
	Description   string   `json:"description,omitempty"`            // at most 512
	Email         string   `json:"email,omitempty"`                  // at most 128
	PictureHandle string   `json:"profile_picture_handle,omitempty"` // of an upload; to set it
	PictureURL    string   `json:"profile_picture_url,omitempty"`    // when read
	Websites      []string `json:"websites,omitempty"`               // at most two of 256
	Vertical      string   `json:"vertical,omitempty"`               // the trade: RETAIL, RESTAURANT, …
}

const profileFields = "about,address,description,email,profile_picture_url,websites,vertical"

// Profile reads the number's business profile.
func (c *Client) Profile(ctx context.Context) (Profile, error) {
	var out struct {
		Data []struct {
			Profile
			Nested *Profile `json:"business_profile"` // where the documentation has it
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

// SetProfile changes the members that are set.
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
