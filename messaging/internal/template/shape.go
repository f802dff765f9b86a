package template

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// templateShape is what a template asks for and shows: its components, read.
type templateShape struct {
	category string
	named    bool
	parts    []templatePart
}

// templatePart is one component of a template as networks describe it. Members
// that filling it in does not need are not read.
type templatePart struct {
	Type    string           `json:"type"`   // HEADER, BODY, FOOTER, BUTTONS, CAROUSEL, LIMITED_TIME_OFFER
	Format  string           `json:"format"` // of a header: TEXT, IMAGE …
	Text    string           `json:"text"`
	Buttons []templateButton `json:"buttons"`
	Cards   []templateCard   `json:"cards"`
	Offer   *struct {
		Text       string `json:"text"`
		Expiration bool   `json:"has_expiration"`
	} `json:"limited_time_offer"`
}

type templateButton struct {
	Type  string `json:"type"` // QUICK_REPLY, URL, PHONE_NUMBER, COPY_CODE, OTP, FLOW …
	Text  string `json:"text"`
	URL   string `json:"url"`
	Phone string `json:"phone_number"`
}

type templateCard struct {
	Components []templatePart `json:"components"`
}

// shape reads a template's components; what cannot be read asks for nothing.
func (r *Row) shape() templateShape {
	s := templateShape{category: strings.ToUpper(r.Category), named: strings.EqualFold(r.Format, "named")}
	for _, raw := range r.components() {
		var p templatePart
		if json.Unmarshal(raw, &p) == nil {
			s.parts = append(s.parts, p)
		}
	}
	return s
}

// is compares a type, which is written in either case.
func (p *templatePart) is(kind string) bool   { return strings.EqualFold(p.Type, kind) }
func (b *templateButton) is(kind string) bool { return strings.EqualFold(b.Type, kind) }

var templateVariable = regexp.MustCompile(`\{\{\s*([A-Za-z0-9_]+)\s*\}\}`)

// variables are the names in a text, each once: "1", "2", or words.
func variables(text string) []string {
	var out []string
	for _, m := range templateVariable.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// filling is one component of a send: what fills a part of the template.
type filling struct {
	Type       string          `json:"type"`
	SubType    string          `json:"sub_type"`
	Index      json.RawMessage `json:"index"` // a number or a string of digits
	Parameters []parameter     `json:"parameters"`
	Cards      []struct {
		Index      *int      `json:"card_index"`
		Components []filling `json:"components"`
	} `json:"cards"`

	at string // where it is in the request
}

func (f *filling) is(kind string) bool { return strings.EqualFold(f.Type, kind) }

func (f *filling) index() string { return strings.Trim(string(f.Index), `"`) }

// parameter is one value; networks take more members than are read here.
type parameter struct {
	Type     string     `json:"type"`
	Name     string     `json:"parameter_name"`
	Text     string     `json:"text"`
	Code     string     `json:"coupon_code"`
	Currency *written   `json:"currency"`
	DateTime *written   `json:"date_time"`
	Image    *fileParam `json:"image"`
	Video    *fileParam `json:"video"`
	Document *fileParam `json:"document"`
}

// written is a value that the network shows in words.
type written struct {
	Fallback string `json:"fallback_value"`
}

type fileParam struct {
	Link     string `json:"link"`
	Filename string `json:"filename"`
}

// shown is the value as the contact reads it.
func (p *parameter) shown() string {
	switch {
	case p.Currency != nil:
		return p.Currency.Fallback
	case p.DateTime != nil:
		return p.DateTime.Fallback
	case p.Code != "":
		return p.Code
	}
	return p.Text
}

// fillings reads the components of a send.
func fillings(call provider.TemplateCall) ([]filling, error) {
	out := make([]filling, len(call.Components))
	for i, raw := range call.Components {
		at := render.Indexed("message.template.components", i)
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			return nil, &payload.Invalid{Field: at, Message: "must be a component in the network's form"}
		}
		out[i].at = at
	}
	return out, nil
}
