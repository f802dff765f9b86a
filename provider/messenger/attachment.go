package messenger

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/provider/graph"
)

// Attachment is a file or a template.
type Attachment struct {
	Type    string `json:"type"`    // "image", "video", "audio", "file", "template"
	Payload any    `json:"payload"` // a [File], a template, or JSON in the network's format
}

// File is a file that the network has or can download: ID or URL is set.
type File struct {
	URL      string `json:"url,omitempty"`
	ID       string `json:"attachment_id,omitempty"` // see [Client.Upload]
	Reusable bool   `json:"is_reusable,omitempty"`   // the answer contains an id for further sends
}

// ButtonTemplate is a text with buttons, which stay visible.
//
// See https://developers.facebook.com/docs/messenger-platform/reference/templates/button
type ButtonTemplate struct {
	Text    string   // at most 640 characters
	Buttons []Button // 1 to 3
}

// GenericTemplate is a row of cards.
//
// See https://developers.facebook.com/docs/messenger-platform/reference/templates/generic
type GenericTemplate struct{ Elements []Element } // 1 to 10

// Element is a card. It needs more than a title.
type Element struct {
	Title    string   `json:"title"`
	Subtitle string   `json:"subtitle,omitempty"`
	ImageURL string   `json:"image_url,omitempty"`
	Tap      *Button  `json:"default_action,omitempty"` // a web_url without a title
	Buttons  []Button `json:"buttons,omitempty"`        // at most 3
}

// Button is a button of a template.
type Button struct {
	Type    string `json:"type"` // "web_url", "postback", "phone_number", "account_link"
	URL     string `json:"url,omitempty"`
	Title   string `json:"title,omitempty"`   // at most 20 characters
	Payload string `json:"payload,omitempty"` // at most 1000 characters; of a phone_number the number
	Height  string `json:"webview_height_ratio,omitempty"`
}

// template is any template in the network's format.
type template struct {
	Type     string    `json:"template_type"`
	Text     string    `json:"text,omitempty"`
	Elements []Element `json:"elements,omitempty"`
	Buttons  []Button  `json:"buttons,omitempty"`
}

// MarshalJSON encodes the template in the network's format.
func (t ButtonTemplate) MarshalJSON() ([]byte, error) { return json.Marshal(t.wire()) }

// MarshalJSON encodes the template in the network's format.
func (t GenericTemplate) MarshalJSON() ([]byte, error) { return json.Marshal(t.wire()) }

func (t ButtonTemplate) wire() template {
	return template{Type: "button", Text: t.Text, Buttons: t.Buttons}
}

func (t GenericTemplate) wire() template { return template{Type: "generic", Elements: t.Elements} }

// The fields of a message that can break a limit.
const (
	atText         = "message.text"
	atQuickReplies = "message.quick_replies"
	atPayload      = "message.attachment.payload"
)

func (b *Body) check(r *graph.Rules) {
	switch {
	case b.Attachment == nil:
		r.Between(atText, b.Text, maxText)
	case b.Text != "":
		r.Fail(atText, "cannot stand beside an attachment")
	default:
		b.Attachment.check(r)
	}
	r.MaxLength("message.metadata", b.Metadata, maxMetadata)
	if len(b.QuickReplies) > maxQuickReplies {
		r.Fail(atQuickReplies, "must hold at most %d", maxQuickReplies)
	}
	for i, q := range b.QuickReplies {
		at := fmt.Sprintf("%s[%d]", atQuickReplies, i)
		if q.ContentType == "text" {
			r.Between(at+".title", q.Title, maxTitle)
			r.Between(at+".payload", q.Payload, maxPayload)
		}
	}
}

func (a *Attachment) check(r *graph.Rules) {
	switch p := a.Payload.(type) {
	case File:
		switch {
		case p.ID != "" && p.URL != "":
			r.Fail(atPayload+".url", "must not be set together with the id of an uploaded file")
		case p.ID == "":
			r.Needs(atPayload+".url", p.URL)
			r.Link(atPayload+".url", p.URL)
		}
	case ButtonTemplate:
		p.wire().check(r)
	case GenericTemplate:
		p.wire().check(r)
	case json.RawMessage:
		var t template
		r.Must(json.Unmarshal(p, &t) == nil, atPayload, "must be an object as the network takes it")
		t.check(r)
	default:
		r.Needs(atPayload, "")
	}
}

// check checks a template against the limits of its type. The network checks
// types that this version does not support.
func (t template) check(r *graph.Rules) {
	r.Needs(atPayload+".template_type", t.Type)
	switch t.Type {
	case "button":
		r.Between(atPayload+".text", t.Text, maxButtonText)
		r.Count(atPayload+".buttons", len(t.Buttons), maxButtons)
	case "generic":
		r.Count(atPayload+".elements", len(t.Elements), maxElements)
	}
	for i, e := range t.Elements {
		e.check(r, fmt.Sprintf("%s.elements[%d]", atPayload, i), t.Type)
	}
	checkButtons(r, atPayload+".buttons", t.Buttons)
}

func (e *Element) check(r *graph.Rules, at, of string) {
	if of == "generic" {
		r.Between(at+".title", e.Title, maxElementTitle)
		r.Must(e.Subtitle != "" || e.ImageURL != "" || len(e.Buttons) > 0, at, "must have more than a title")
	}
	r.MaxLength(at+".subtitle", e.Subtitle, maxSubtitle)
	checkButtons(r, at+".buttons", e.Buttons)
}

func checkButtons(r *graph.Rules, at string, buttons []Button) {
	if len(buttons) > maxButtons {
		r.Fail(at, "must hold at most %d", maxButtons)
	}
	for i, b := range buttons {
		at := fmt.Sprintf("%s[%d]", at, i)
		r.Needs(at+".type", b.Type)
		r.MaxLength(at+".title", b.Title, maxTitle)
		switch b.Type {
		case "postback":
			r.Needs(at+".title", b.Title)
			r.Between(at+".payload", b.Payload, maxPayload)
		case "phone_number":
			r.Must(strings.HasPrefix(b.Payload, "+"), at+".payload", "must be a phone number that begins with +")
		case "web_url":
			r.Link(at+".url", b.URL)
		}
	}
}
