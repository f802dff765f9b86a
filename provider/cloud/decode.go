package cloud

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Request is what a program asks of the Cloud API with `POST /{number}/messages`: to
// send Content, or, if Read is set, to mark messages as read.
//
// See https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages
type Request struct {
	To           string // phone number, business-scoped user id or, with Group, the group's id
	Group        bool
	ReplyTo      string // id of the message to quote, or ""
	CallbackData string // returned in the statuses, or ""
	// Content has files by URL, or by the id that an upload has returned: StoredID.
	Content provider.Content

	Read   string // id of the message up to which messages are read, or ""
	Typing bool   // with Read: show the contact that an answer is being written
}

// ChatID returns the recipient as the id of a chat.
func (r *Request) ChatID() string {
	if r.Group && !strings.Contains(r.To, "@") {
		return r.To + groupSuffix
	}
	return r.To
}

// DecodeRequest reads the body of a request as Meta documents it. It returns a
// [*provider.Invalid], or several of them joined, whose fields are those of the body,
// such as "text.body". It does not check Meta's limits: see [Provider.Validate].
func DecodeRequest(body []byte) (Request, error) {
	v, r := graph.Value(body), &graph.Rules{}
	if !json.Valid(body) || !v.Object() {
		return Request{}, &provider.Invalid{Field: "body", Message: "must be a JSON object"}
	}
	r.Must(v.Get("messaging_product").Text() == product, "messaging_product", `must be "whatsapp"`)
	if v.Get("status").Text() != "" {
		return decodeRead(r, v)
	}
	req := Request{
		To: first(v.Get("to").ID(), v.Get("recipient").ID()), Group: v.Get("recipient_type").Text() == "group",
		ReplyTo: v.Get("context").Get("message_id").Text(), CallbackData: v.Get("biz_opaque_callback_data").Text(),
	}
	r.Needs("to", req.To)
	req.Content = decodeContent(r, v)
	return req, r.Result()
}

func decodeRead(r *graph.Rules, v graph.Value) (Request, error) {
	req := Request{Read: v.Get("message_id").Text(), Typing: v.Get("typing_indicator").Object()}
	r.Must(v.Get("status").Text() == "read", "status", `must be "read"`)
	r.Needs("message_id", req.Read)
	return req, r.Result()
}

// requestTypes are the types of messages that [DecodeRequest] reads.
var requestTypes = []string{
	"text", "image", "video", "audio", "document", "sticker", "location", "contacts", "reaction", "interactive", "template",
}

// decodeContent reads the content. Without a type it is a text, as for Meta.
func decodeContent(r *graph.Rules, v graph.Value) provider.Content {
	kind := first(v.Get("type").Text(), "text")
	if !slices.Contains(requestTypes, kind) {
		r.Fail("type", "must be one of %s", strings.Join(requestTypes, ", "))
		return nil
	}
	in := v.Get(kind)
	if kind == "contacts" {
		n := 0
		for range in.Items() { // to read a card costs a hundred times as much
			if n++; n > maxCards {
				r.Fail(kind, "must have at most %d", maxCards)
				return nil
			}
		}
		cards, _ := readCards(in, "").(provider.Contacts)
		r.Must(len(cards.Contacts) > 0, kind, "must be a list of contacts")
		return cards
	}
	if !in.Object() {
		r.Fail(kind, "must be an object")
		return nil
	}
	switch kind {
	case "text":
		r.Needs("text.body", in.Get("body").Text())
		return provider.Text{Text: in.Get("body").Text(), PreviewURL: in.Get("preview_url").Flag()}
	case "location":
		return decodePlace(r, in)
	case "reaction":
		r.Needs("reaction.message_id", in.Get("message_id").Text())
		return provider.Reaction{MessageID: in.Get("message_id").Text(), Emoji: in.Get("emoji").Text()}
	case "interactive":
		r.Needs("interactive.type", in.Get("type").Text())
		return provider.Interactive{Interactive: json.RawMessage(in)}
	case "template":
		return decodeTemplate(r, in)
	}
	return decodeFile(r, kind, in)
}

func decodePlace(r *graph.Rules, in graph.Value) provider.Content {
	latitude, hasLatitude := in.Get("latitude").Float()
	longitude, hasLongitude := in.Get("longitude").Float()
	r.Must(hasLatitude, "location.latitude", "must be a number")
	r.Must(hasLongitude, "location.longitude", "must be a number")
	return provider.Location{Latitude: latitude, Longitude: longitude, Name: in.Get("name").Text(), Address: in.Get("address").Text()}
}

func decodeTemplate(r *graph.Rules, in graph.Value) provider.Content {
	t := provider.TemplateCall{
		Name:     in.Get("name").Text(),
		Language: provider.TemplateLanguage{Code: in.Get("language").Get("code").Text(), Policy: in.Get("language").Get("policy").Text()},
	}
	r.Needs("template.name", t.Name)
	r.Needs("template.language.code", t.Language.Code)
	for c := range in.Get("components").Items() {
		t.Components = append(t.Components, json.RawMessage(c))
	}
	return provider.Template{Template: t}
}

func decodeFile(r *graph.Rules, kind string, in graph.Value) provider.Content {
	m := provider.Media{
		Kind: provider.MediaKind(kind), StoredID: in.Get("id").ID(), URL: in.Get("link").Text(),
		Caption: in.Get("caption").Text(), FileName: in.Get("filename").Text(), Voice: in.Get("voice").Flag(),
	}
	r.Must((m.StoredID == "") != (m.URL == ""), kind, "must have either an id or a link")
	return m
}

// Portable returns the content of a request in the form that every kind of reference can
// send: buttons and menus as [provider.Buttons] and [provider.List], whose text has the
// header and the footer, and a button with a link as a text. Other content is returned
// unchanged.
func Portable(c provider.Content) provider.Content {
	i, ok := c.(provider.Interactive)
	if !ok {
		return c
	}
	in := graph.Value(i.Interactive)
	header, action := in.Get("header"), in.Get("action")
	if h := header.Get("type").Text(); h != "" && h != "text" {
		return c // a file as the header
	}
	text := paragraphs(header.Get("text").Text(), in.Get("body").Get("text").Text(), in.Get("footer").Get("text").Text())
	switch in.Get("type").Text() {
	case "button":
		return portableButtons(text, action)
	case "list":
		return portableList(text, action)
	case "cta_url":
		p := action.Get("parameters")
		return provider.Text{Text: paragraphs(text, p.Get("display_text").Text()+": "+p.Get("url").Text())}
	}
	return c
}

func paragraphs(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}

func portableButtons(text string, action graph.Value) provider.Content {
	b := provider.Buttons{Text: text}
	for item := range action.Get("buttons").Items() {
		reply := item.Get("reply")
		b.Buttons = append(b.Buttons, provider.Choice{ID: reply.Get("id").Text(), Title: reply.Get("title").Text()})
	}
	return b
}

func portableList(text string, action graph.Value) provider.Content {
	l := provider.List{Text: text, Button: action.Get("button").Text()}
	for item := range action.Get("sections").Items() {
		s := provider.Section{Title: item.Get("title").Text()}
		for row := range item.Get("rows").Items() {
			s.Rows = append(s.Rows, provider.Choice{ID: row.Get("id").Text(), Title: row.Get("title").Text(), Description: row.Get("description").Text()})
		}
		l.Sections = append(l.Sections, s)
	}
	return l
}
