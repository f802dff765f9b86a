package template

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Limits of template definitions, in characters.
const (
	maxBody       = 1024
	maxHeader     = 60
	maxFooter     = 60
	maxButtons    = 10
	maxURLs       = 2
	maxPhones     = 1
	maxButtonText = 25
	maxURL        = 2000
	maxPhone      = 20
)

// ComponentDefinition is one part of a template to submit.
//
// See https://developers.facebook.com/docs/whatsapp/business-management-api/message-templates/components
type ComponentDefinition struct {
	Type             string             `json:"type"`             // HEADER, BODY, FOOTER, BUTTONS, CAROUSEL, LIMITED_TIME_OFFER
	Format           string             `json:"format,omitempty"` // of a header: TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION, GIF
	Text             string             `json:"text,omitempty"`
	Example          *Example           `json:"example,omitempty"` // a value for each variable
	SecurityAdvice   bool               `json:"add_security_recommendation,omitempty"`
	ExpiresInMinutes int                `json:"code_expiration_minutes,omitempty"`
	Buttons          []ButtonDefinition `json:"buttons,omitempty"`
	Cards            []CardDefinition   `json:"cards,omitempty"`              // of a carousel: 2 to 10, all with the same parts
	Offer            *OfferDefinition   `json:"limited_time_offer,omitempty"` // of a limited-time offer
}

// CardDefinition is one card of a carousel.
type CardDefinition struct {
	Components []ComponentDefinition `json:"components"`
}

// OfferDefinition is the header of a limited-time offer.
type OfferDefinition struct {
	Text       string `json:"text"` // at most 16 characters
	Expiration bool   `json:"has_expiration,omitempty"`
}

// Example has a value for each variable of a component. The component and the
// template's parameter format determine which field is used.
type Example struct {
	HeaderText   []string       `json:"header_text,omitempty"`
	HeaderHandle []string       `json:"header_handle,omitempty"` // of an uploaded sample
	HeaderNamed  []NamedExample `json:"header_text_named_params,omitempty"`
	BodyText     [][]string     `json:"body_text,omitempty"`
	BodyNamed    []NamedExample `json:"body_text_named_params,omitempty"`
}

// NamedExample is a value for a named variable.
type NamedExample struct {
	Name    string `json:"param_name"`
	Example string `json:"example"`
}

// ButtonDefinition is one button of a template.
type ButtonDefinition struct {
	Type           string   `json:"type"` // QUICK_REPLY, URL, PHONE_NUMBER, COPY_CODE, OTP, FLOW, CATALOG, MPM, SPM …
	Text           string   `json:"text,omitempty"`
	URL            string   `json:"url,omitempty"`     // may end with {{1}}
	Example        []string `json:"example,omitempty"` // for the variable, or the code to copy
	PhoneNumber    string   `json:"phone_number,omitempty"`
	OTPType        string   `json:"otp_type,omitempty"` // COPY_CODE, ONE_TAP, ZERO_TAP
	AutofillText   string   `json:"autofill_text,omitempty"`
	PackageName    string   `json:"package_name,omitempty"`
	SignatureHash  string   `json:"signature_hash,omitempty"`
	FlowID         string   `json:"flow_id,omitempty"`
	FlowAction     string   `json:"flow_action,omitempty"`
	NavigateScreen string   `json:"navigate_screen,omitempty"`
}

// Definition encodes typed components for [provider.TemplateDefinition].
func Definition(components ...ComponentDefinition) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(components))
	for i, c := range components {
		raw, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		out[i] = raw
	}
	return out, nil
}

var (
	templateName = regexp.MustCompile(`^[a-z0-9_]+$`)
	variable     = regexp.MustCompile(`\{\{\s*[A-Za-z0-9_]+\s*\}\}`)
)

// Check checks a template against Meta's rules. It returns a
// [*provider.Invalid] for the first rule that is broken. Its field is named as
// in POST /templates.
func Check(t provider.TemplateDefinition) error {
	r := &graph.Rules{}
	r.Must(len(t.Name) <= 512 && templateName.MatchString(t.Name), "name", "must be 1 to 512 lower-case letters, digits and underscores")
	r.Needs("language", t.Language)
	switch t.Category {
	case "MARKETING", "UTILITY", "AUTHENTICATION":
	default:
		r.Fail("category", "must be MARKETING, UTILITY or AUTHENTICATION")
	}
	switch strings.ToLower(t.ParameterFormat) {
	case "", "positional", "named":
	default:
		r.Fail("parameterFormat", "must be positional or named")
	}
	r.Must(len(t.Components) > 0, "components", "must not be empty")
	seen := map[string]bool{}
	for i, raw := range t.Components {
		at := fmt.Sprintf("components[%d]", i)
		var c ComponentDefinition
		if err := json.Unmarshal(raw, &c); err != nil {
			r.Fail(at, "must be a component as the network takes it")
			continue
		}
		kind := strings.ToUpper(c.Type)
		r.Must(!seen[kind], at+".type", "must be unique")
		seen[kind] = true
		c.check(r, at, t.Category)
	}
	r.Must(seen["BODY"] || len(t.Components) == 0, "components", "must hold a BODY")
	return r.Result()
}

func (c ComponentDefinition) check(r *graph.Rules, at, category string) {
	variables := len(variable.FindAllString(c.Text, -1))
	switch strings.ToUpper(c.Type) {
	case "":
		r.Fail(at+".type", "must not be empty")
	case "HEADER":
		c.checkHeader(r, at, variables)
	case "BODY":
		if category == "AUTHENTICATION" {
			return // Meta writes its text
		}
		r.Between(at+".text", c.Text, maxBody)
		text := strings.TrimSpace(c.Text)
		if spots := variable.FindAllStringIndex(text, -1); len(spots) > 0 {
			r.Must(spots[0][0] > 0 && spots[len(spots)-1][1] < len(text), at+".text", "must not begin or end with a variable")
		}
		r.Must(variables == 0 || c.Example.values() > 0, at+".example", "must hold a value for each variable")
	case "FOOTER":
		r.MaxLength(at+".text", c.Text, maxFooter)
		r.Must(variables == 0, at+".text", "must not hold a variable")
	case "BUTTONS":
		c.checkButtons(r, at)
	case "CAROUSEL":
		for i, card := range c.Cards {
			for j, inner := range card.Components {
				inner.check(r, fmt.Sprintf("%s.cards[%d].components[%d]", at, i, j), category)
			}
		}
	}
}

// values returns the number of examples.
func (e *Example) values() int {
	if e == nil {
		return 0
	}
	n := len(e.HeaderText) + len(e.HeaderNamed) + len(e.BodyNamed)
	for _, row := range e.BodyText {
		n += len(row)
	}
	return n
}

func (c ComponentDefinition) checkHeader(r *graph.Rules, at string, variables int) {
	switch strings.ToUpper(c.Format) {
	case "TEXT":
		r.Between(at+".text", c.Text, maxHeader)
		r.Must(variables <= 1, at+".text", "must hold at most one variable")
		r.Must(variables == 0 || c.Example.values() > 0, at+".example", "must hold a value for the variable")
	case "IMAGE", "VIDEO", "DOCUMENT", "GIF":
		r.Must(c.Example != nil && len(c.Example.HeaderHandle) > 0, at+".example.header_handle", "must hold the handle of a sample file")
	case "LOCATION":
	default:
		r.Fail(at+".format", "must be TEXT, IMAGE, VIDEO, DOCUMENT, GIF or LOCATION")
	}
}

func (c ComponentDefinition) checkButtons(r *graph.Rules, at string) {
	r.Count(at+".buttons", len(c.Buttons), maxButtons)
	urls, phones := 0, 0
	for i, b := range c.Buttons {
		in := fmt.Sprintf("%s.buttons[%d]", at, i)
		r.MaxLength(in+".text", b.Text, maxButtonText)
		switch strings.ToUpper(b.Type) {
		case "":
			r.Fail(in+".type", "must not be empty")
		case "QUICK_REPLY":
			r.Needs(in+".text", b.Text)
		case "URL":
			urls++
			b.checkURL(r, in)
		case "PHONE_NUMBER":
			phones++
			r.Needs(in+".text", b.Text)
			r.Between(in+".phone_number", b.PhoneNumber, maxPhone)
		}
	}
	r.Must(urls <= maxURLs, at+".buttons", "must hold at most 2 of type URL")
	r.Must(phones <= maxPhones, at+".buttons", "must hold at most 1 of type PHONE_NUMBER")
}

func (b ButtonDefinition) checkURL(r *graph.Rules, at string) {
	r.Needs(at+".text", b.Text)
	r.Between(at+".url", b.URL, maxURL)
	spots := variable.FindAllStringIndex(b.URL, -1)
	if len(spots) == 0 {
		return
	}
	r.Must(len(spots) == 1 && spots[0][1] == len(b.URL), at+".url", "may hold one variable, at its end")
	r.Must(len(b.Example) > 0, at+".example", "must hold a value for the variable")
}
