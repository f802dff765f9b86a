package cloud

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Interactive is a message with buttons, a menu or another action.
//
// See https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages#interactive-object
type Interactive struct {
	Header *Header // nil: none
	Body   string  // at most 1024 characters
	Footer string  // at most 60 characters; "": none
	Action Action
}

// Action is what the contact can do: [Buttons], [List], [LinkButton], [Flow],
// [LocationRequest], [Product], [ProductList], [Catalog], [OrderDetails] or
// [OrderStatus].
type Action interface {
	kind() string
	wire() any
	check(r *graph.Rules, at string)
}

// Header is shown above the body: a text of at most 60 characters, or an image,
// video or document.
type Header struct {
	Text  string
	Media *Media
}

type textPart struct {
	Text string `json:"text"`
}

// headerPart is a [Header] in the network's format.
type headerPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	Image    *Media `json:"image,omitempty"`
	Video    *Media `json:"video,omitempty"`
	Document *Media `json:"document,omitempty"`
}

// MarshalJSON encodes the header with its type.
func (h Header) MarshalJSON() ([]byte, error) {
	p := headerPart{Type: "text", Text: h.Text}
	if h.Media != nil {
		p.Type, p.Text = string(h.Media.Kind), ""
		var none *Media
		*h.Media.slot(&p.Image, &p.Video, &none, &p.Document, &none) = h.Media
	}
	return json.Marshal(p)
}

// UnmarshalJSON decodes what MarshalJSON encodes.
func (h *Header) UnmarshalJSON(raw []byte) error {
	var p headerPart
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	*h = Header{Text: p.Text}
	for kind, m := range map[provider.MediaKind]*Media{provider.Image: p.Image, provider.Video: p.Video, provider.Document: p.Document} {
		if string(kind) == p.Type {
			if m == nil {
				m = &Media{}
			}
			m.Kind = kind
			h.Media = m
		}
	}
	return nil
}

func (h *Header) check(r *graph.Rules, at string) {
	if h == nil {
		return
	}
	if h.Media == nil {
		r.Between(at+".text", h.Text, maxHeader)
		return
	}
	switch h.Media.Kind {
	case provider.Image, provider.Video, provider.Document:
		h.Media.checkAt(r, at+"."+string(h.Media.Kind))
	default:
		r.Fail(at, "must be a text, an image, a video or a document")
	}
}

// MarshalJSON encodes the message with the type of its action.
func (i Interactive) MarshalJSON() ([]byte, error) {
	if i.Action == nil {
		return nil, errors.New("cloud: an interactive message without action")
	}
	out := struct {
		Type   string    `json:"type"`
		Header *Header   `json:"header,omitempty"`
		Body   *textPart `json:"body,omitempty"`
		Footer *textPart `json:"footer,omitempty"`
		Action any       `json:"action"`
	}{Type: i.Action.kind(), Header: i.Header, Action: i.Action.wire()}
	if i.Body != "" {
		out.Body = &textPart{i.Body}
	}
	if i.Footer != "" {
		out.Footer = &textPart{i.Footer}
	}
	return json.Marshal(out)
}

const atInteractive = "message.interactive"

func (i Interactive) check(r *graph.Rules) {
	if i.Action == nil {
		r.Fail(atInteractive+".action", "must not be empty")
		return
	}
	i.Header.check(r, atInteractive+".header")
	if _, alone := i.Action.(Product); !alone {
		r.Needs(atInteractive+".body.text", i.Body)
	}
	r.MaxLength(atInteractive+".body.text", i.Body, maxBody)
	r.MaxLength(atInteractive+".footer.text", i.Footer, maxFooter)
	i.Action.check(r, atInteractive+".action")
	switch i.Action.(type) {
	case List:
		r.Must(i.Header == nil || i.Header.Media == nil, atInteractive+".header", "of a list must be a text")
	case ProductList:
		r.Must(i.Header != nil && i.Header.Media == nil, atInteractive+".header", "of a list of products must be a text")
	}
}

func (i Interactive) into(e *envelope) { e.Type, e.Interactive = "interactive", i }

// Reply is one of [Buttons]. Its title has at most 20 characters, its id at
// most 256. Both are unique in the message.
type Reply struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// Buttons are one to three answers.
type Buttons []Reply

func (Buttons) kind() string { return "button" }

func (b Buttons) wire() any {
	type button struct {
		Type  string `json:"type"`
		Reply Reply  `json:"reply"`
	}
	out := make([]button, len(b))
	for i, reply := range b {
		out[i] = button{"reply", reply}
	}
	return map[string]any{"buttons": out}
}

func (b Buttons) check(r *graph.Rules, at string) {
	r.Count(at+".buttons", len(b), maxButtons)
	ids, titles := map[string]bool{}, map[string]bool{}
	for i, reply := range b {
		in := fmt.Sprintf("%s.buttons[%d].reply", at, i)
		r.Between(in+".id", reply.ID, maxButtonID)
		r.Between(in+".title", reply.Title, maxButtonTitle)
		r.Must(!ids[reply.ID], in+".id", "must be unique")
		r.Must(!titles[reply.Title], in+".title", "must be unique")
		ids[reply.ID], titles[reply.Title] = true, true
	}
}

// List is a menu behind a button of at most 20 characters. It has up to ten
// rows in up to ten sections. Sections need a title if there are several.
type List struct {
	Button   string    `json:"button"`
	Sections []Section `json:"sections"`
}

// Section is a part of a [List]; its title has at most 24 characters.
type Section struct {
	Title string `json:"title,omitempty"`
	Rows  []Row  `json:"rows"`
}

// Row is an answer of a [List]. Its id has at most 200 characters, its title at
// most 24, its description at most 72.
type Row struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
}

func (List) kind() string { return "list" }

func (l List) wire() any { return l }

func (l List) check(r *graph.Rules, at string) {
	r.Between(at+".button", l.Button, maxListButton)
	r.Count(at+".sections", len(l.Sections), maxSections)
	ids, rows := map[string]bool{}, 0
	for i, s := range l.Sections {
		in := fmt.Sprintf("%s.sections[%d]", at, i)
		r.Must(s.Title != "" || len(l.Sections) == 1, in+".title", "must not be empty where there are several sections")
		r.MaxLength(in+".title", s.Title, maxTitle)
		r.Must(len(s.Rows) > 0, in+".rows", "must not be empty")
		for j, row := range s.Rows {
			row.check(r, fmt.Sprintf("%s.rows[%d]", in, j), ids)
		}
		rows += len(s.Rows)
	}
	r.Must(rows <= maxRows, at+".sections", "must hold at most 10 rows in total")
}

func (row Row) check(r *graph.Rules, at string, ids map[string]bool) {
	r.Between(at+".id", row.ID, maxRowID)
	r.Between(at+".title", row.Title, maxTitle)
	r.MaxLength(at+".description", row.Description, maxDescription)
	r.Must(!ids[row.ID], at+".id", "must be unique")
	ids[row.ID] = true
}

// LinkButton opens a link. Its text has at most 20 characters.
type LinkButton struct {
	Text string `json:"display_text"`
	URL  string `json:"url"`
}

func (LinkButton) kind() string { return "cta_url" }

func (b LinkButton) wire() any { return named("cta_url", b) }

func (b LinkButton) check(r *graph.Rules, at string) {
	r.Between(at+".parameters.display_text", b.Text, maxButtonTitle)
	r.Link(at+".parameters.url", b.URL)
}

// LocationRequest asks for the contact's location.
type LocationRequest struct{}

func (LocationRequest) kind() string { return "location_request_message" }

func (LocationRequest) wire() any { return map[string]string{"name": "send_location"} }

func (LocationRequest) check(*graph.Rules, string) {}

// named is an action with a name and parameters.
func named(name string, parameters any) any {
	return struct {
		Name       string `json:"name"`
		Parameters any    `json:"parameters"`
	}{name, parameters}
}

// flowVersion is the version of messages that open a flow.
const flowVersion = "3"

// Flow is a button that opens a form. Either ID or Name is set.
//
// See https://developers.facebook.com/docs/whatsapp/flows/guides/sendingaflow
type Flow struct {
	ID       string
	Name     string
	Text     string          // of the button, at most 30 characters
	Token    string          // returned with the answer, or ""
	Exchange bool            // the endpoint of the form returns the first screen; Screen and Data are not sent
	Screen   string          // the first screen, or ""
	Data     json.RawMessage // for that screen: an object that is not empty, or nil
	Draft    bool            // the flow is not published yet
}

type flowParameters struct {
	Version string       `json:"flow_message_version"`
	ID      string       `json:"flow_id,omitempty"`
	Name    string       `json:"flow_name,omitempty"`
	Text    string       `json:"flow_cta"`
	Token   string       `json:"flow_token,omitempty"`
	Action  string       `json:"flow_action"`
	Payload *flowPayload `json:"flow_action_payload,omitempty"`
	Mode    string       `json:"mode,omitempty"`
}

type flowPayload struct {
	Screen string          `json:"screen"`
	Data   json.RawMessage `json:"data,omitempty"`
}

func (Flow) kind() string { return "flow" }

func (f Flow) wire() any {
	p := flowParameters{Version: flowVersion, ID: f.ID, Name: f.Name, Text: f.Text, Token: f.Token, Action: "navigate"}
	switch {
	case f.Exchange:
		p.Action = "data_exchange"
	case f.Screen != "":
		p.Payload = &flowPayload{f.Screen, f.Data}
	}
	if f.Draft {
		p.Mode = "draft"
	}
	return named("flow", p)
}

func (f Flow) check(r *graph.Rules, at string) {
	r.Must((f.ID == "") != (f.Name == ""), at+".parameters.flow_id", "must be given, or flow_name, and not both")
	r.Between(at+".parameters.flow_cta", f.Text, maxFlowText)
	if f.Data == nil {
		return
	}
	var members map[string]json.RawMessage
	r.Must(json.Unmarshal(f.Data, &members) == nil && len(members) > 0,
		at+".parameters.flow_action_payload.data", "must be an object with members, or absent")
}
