package template

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Limits of messages that use a template, in characters.
const (
	maxName   = 512
	maxCoupon = 15
)

// Message is an approved template with its parameters. Components without
// variables are left out.
//
// See https://developers.facebook.com/docs/whatsapp/cloud-api/guides/send-message-templates
type Message struct {
	Name       string      `json:"name"`
	Language   Language    `json:"language"`
	Components []Component `json:"components,omitempty"`
}

// Language is a code such as "en_US". The only policy is "deterministic", which
// is the default.
type Language struct {
	Code   string `json:"code"`
	Policy string `json:"policy,omitempty"`
}

// Component has the parameters of one part of a template.
type Component struct {
	Type       string      `json:"type"`               // header, body, button, carousel, limited_time_offer
	SubType    string      `json:"sub_type,omitempty"` // of a button: quick_reply, url, copy_code, flow, catalog, mpm …
	Index      graph.ID    `json:"index,omitempty"`    // the place of a button: "0" to "9"
	Parameters []Parameter `json:"parameters,omitempty"`
	Cards      []Carousel  `json:"cards,omitempty"` // of a carousel
}

// Carousel is one card of a carousel.
type Carousel struct {
	Index      int         `json:"card_index"`
	Components []Component `json:"components"`
}

// Parameter is a value for a variable. Type is the name of the field that has
// the value.
type Parameter struct {
	Type       string        `json:"type"`                     // text, currency, date_time, image, video, document, location, payload, coupon_code, action
	Name       string        `json:"parameter_name,omitempty"` // of a template with named variables
	Text       string        `json:"text,omitempty"`
	Payload    string        `json:"payload,omitempty"`     // of a quick reply
	CouponCode string        `json:"coupon_code,omitempty"` // at most 15 characters
	Currency   *Currency     `json:"currency,omitempty"`
	DateTime   *DateTime     `json:"date_time,omitempty"`
	Image      *File         `json:"image,omitempty"`
	Video      *File         `json:"video,omitempty"`
	Document   *File         `json:"document,omitempty"`
	Location   *Location     `json:"location,omitempty"`
	Action     *ButtonAction `json:"action,omitempty"`
	Offer      *Offer        `json:"limited_time_offer,omitempty"`
}

// Currency is an amount of money. Fallback is shown if it cannot be formatted
// for the contact.
type Currency struct {
	Fallback   string `json:"fallback_value"`
	Code       string `json:"code"`
	Thousandth int64  `json:"amount_1000"`
}

// DateTime is a date and time. The network shows Fallback.
type DateTime struct {
	Fallback   string `json:"fallback_value"`
	Calendar   string `json:"calendar,omitempty"`
	Year       int    `json:"year,omitempty"`
	Month      int    `json:"month,omitempty"`
	DayOfMonth int    `json:"day_of_month,omitempty"`
	DayOfWeek  int    `json:"day_of_week,omitempty"`
	Hour       int    `json:"hour,omitempty"`
	Minute     int    `json:"minute,omitempty"`
}

// ButtonAction is what a button of a template opens.
type ButtonAction struct {
	FlowToken          string         `json:"flow_token,omitempty"`
	FlowData           map[string]any `json:"flow_action_data,omitempty"`
	ThumbnailProductID string         `json:"thumbnail_product_retailer_id,omitempty"`
	Sections           any            `json:"sections,omitempty"` // of a list of products
}

// Offer is the end of a limited-time offer, in milliseconds since 1970.
type Offer struct {
	ExpiresMillis int64 `json:"expiration_time_ms"`
}

// File is the file of a header: an id of an uploaded file, or a link.
type File struct {
	ID       string `json:"id,omitempty"`
	Link     string `json:"link,omitempty"`
	Filename string `json:"filename,omitempty"` // of a document
}

// Location is the location in a header.
type Location struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Name      string  `json:"name,omitempty"`
	Address   string  `json:"address,omitempty"`
}

// Validate decodes the template of a send and checks it against Meta's rules.
// It returns a [*provider.Invalid] for the first rule that is broken. Its field
// is named as in POST /chats/send.
func Validate(call provider.TemplateCall) error {
	r := &graph.Rules{}
	CheckCall(r, call)
	return r.Result()
}

// CheckCall is [Validate] with the caller's rules, which may check more.
func CheckCall(r *graph.Rules, call provider.TemplateCall) {
	m := Message{Name: call.Name, Language: Language(call.Language)}
	for i, raw := range call.Components {
		var c Component
		if err := json.Unmarshal(raw, &c); err != nil {
			r.Fail(fmt.Sprintf("%s.components[%d]", at, i), "must be a component as the network takes it")
			return
		}
		m.Components = append(m.Components, c)
	}
	m.Check(r)
}

// at is the path of the template in a send.
const at = "message.template"

// Check checks a message against Meta's rules.
func (m Message) Check(r *graph.Rules) {
	r.Between(at+".name", m.Name, maxName)
	r.Needs(at+".language.code", m.Language.Code)
	r.Must(m.Language.Policy == "" || m.Language.Policy == "deterministic", at+".language.policy", "must be deterministic")
	for i, c := range m.Components {
		c.check(r, fmt.Sprintf("%s.components[%d]", at, i))
	}
}

func (c Component) check(r *graph.Rules, at string) {
	r.Needs(at+".type", c.Type)
	if strings.EqualFold(c.Type, "button") {
		r.Needs(at+".sub_type", c.SubType)
		n, err := strconv.Atoi(string(c.Index))
		r.Must(err == nil && n >= 0 && n <= 9, at+".index", "must be 0 to 9")
	}
	for i, p := range c.Parameters {
		p.check(r, fmt.Sprintf("%s.parameters[%d]", at, i))
	}
	for i, card := range c.Cards {
		for j, inner := range card.Components {
			inner.check(r, fmt.Sprintf("%s.cards[%d].components[%d]", at, i, j))
		}
	}
}

func (p Parameter) check(r *graph.Rules, at string) {
	switch p.Type {
	case "":
		r.Fail(at+".type", "must not be empty")
	case "text":
		r.Needs(at+".text", p.Text)
		r.Must(!strings.ContainsAny(p.Text, "\n\r\t") && !strings.Contains(p.Text, "     "),
			at+".text", "must not hold line breaks, tabs or more than four spaces in a row")
	case "coupon_code":
		r.Between(at+".coupon_code", p.CouponCode, maxCoupon)
	case "payload":
		r.Needs(at+".payload", p.Payload)
	}
	p.checkFile(r, at)
}

// checkFile checks the file of a header's parameter.
func (p Parameter) checkFile(r *graph.Rules, at string) {
	var m *File
	switch p.Type {
	case "image":
		m = p.Image
	case "video":
		m = p.Video
	case "document":
		m = p.Document
	default:
		return
	}
	at += "." + p.Type
	r.Must(m != nil && (m.ID == "") != (m.Link == ""), at, "must have either an id or a link")
	if m != nil && m.Link != "" {
		r.Link(at+".link", m.Link)
	}
}
