package node

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// messageConfig is the configuration of a message, and of the prompt of a question.
type messageConfig struct {
	Kind     string          `json:"kind" default:"text" enum:"text,image,video,audio,document,sticker,location,contacts,buttons,list,template,reaction,poll" doc:"Kind of message."`
	Text     flow.Text       `json:"text" max:"4096" doc:"Text of the message. With buttons and lists, at most 1024 characters; with a poll, its question."`
	Media    *mediaConfig    `json:"media" doc:"File of an image, video, audio, document or sticker."`
	Buttons  []buttonConfig  `json:"buttons" max:"3" doc:"Buttons that the contact can press."`
	Button   flow.Text       `json:"button" default:"Options" max:"20" doc:"Text of the button that opens a list."`
	Sections []sectionConfig `json:"sections" max:"10" doc:"Sections of a list, with at most 10 rows in total."`
	Template *templateConfig `json:"template" doc:"An approved template and its parameters."`
	Location *locationConfig `json:"location" doc:"Coordinates of a location."`
	Contacts []flow.Data     `json:"contacts" max:"257" doc:"Contact cards, in the form of a send request."`
	Emoji    flow.Text       `json:"emoji" max:"64" doc:"Emoji of a reaction to the latest message. An empty text removes the reaction."`
	Options  []flow.Text     `json:"options" max:"12" doc:"Options of a poll, at least 2."`
	Multiple bool            `json:"multiple" default:"false" doc:"Whether a poll accepts several options."`
	ReplyTo  string          `json:"replyTo" default:"none" enum:"none,input" doc:"Whether to quote the latest message."`
	Typing   time.Duration   `json:"typing" default:"PT0S" max:"PT25S" doc:"How long to show the typing indicator before the message."`
}

type mediaConfig struct {
	URL      flow.Text `json:"url" required:"true" max:"2048" doc:"URL of the file, or the id of an uploaded file."`
	Caption  flow.Text `json:"caption" max:"1024" doc:"Text below the file. Audio and stickers have none."`
	Filename flow.Text `json:"filename" max:"240" doc:"Name of a document."`
	Voice    bool      `json:"voice" default:"false" doc:"Whether to send audio as a voice note."`
}

type buttonConfig struct {
	ID    string    `json:"id" required:"true" min:"1" max:"256" doc:"Returned as the id of the contact's answer."`
	Title flow.Text `json:"title" required:"true" min:"1" max:"20" doc:"Text of the button."`
}

type sectionConfig struct {
	Title flow.Text   `json:"title" max:"24" doc:"Title of the section. Required with several sections."`
	Rows  []rowConfig `json:"rows" required:"true" min:"1" max:"10" doc:"Rows that the contact can choose."`
}

type rowConfig struct {
	ID          string    `json:"id" required:"true" min:"1" max:"200" doc:"Returned as the id of the contact's answer."`
	Title       flow.Text `json:"title" required:"true" min:"1" max:"24" doc:"Text of the row."`
	Description flow.Text `json:"description" max:"72" doc:"Smaller text below the row."`
}

type templateConfig struct {
	Name       flow.Text        `json:"name" required:"true" min:"1" max:"512" doc:"Name of the template."`
	Language   templateLanguage `json:"language" required:"true" doc:"Language of the template."`
	Components []flow.Data      `json:"components" max:"20" doc:"Parameters of the template, in the network's form."`
}

type templateLanguage struct {
	Code flow.Text `json:"code" required:"true" min:"1" max:"16" doc:"Language code, for example en_US."`
}

type locationConfig struct {
	Latitude  flow.Data `json:"latitude" required:"true" doc:"Degrees, or a template that returns them."`
	Longitude flow.Data `json:"longitude" required:"true" doc:"Degrees, or a template that returns them."`
	Name      flow.Text `json:"name" max:"1000" doc:"Name of the place."`
	Address   flow.Text `json:"address" max:"1000" doc:"Address of the place."`
}

func messageType() flow.NodeType {
	return flow.NodeType{
		Name: "message", Group: "talk", Text: "Sends a message to the chat.",
		Outputs: []flow.Output{{Name: "out", Text: "the message is queued"}, {Name: "error", Text: "the network does not accept the message"}},
		Effect:  "send",
		Errors:  []string{"channel.window_closed", "channel.unsupported", "channel.rejected", "template.not_found"},
		Config:  func() flow.Config { return &messageConfig{} },
	}
}

func (*messageConfig) Outputs() []string { return []string{"out", "error"} }

// needs are the members that a kind of message requires.
var needs = map[string][]string{
	"text": {"text"}, "image": {"media"}, "video": {"media"}, "audio": {"media"}, "document": {"media"}, "sticker": {"media"},
	"location": {"location"}, "contacts": {"contacts"}, "buttons": {"text", "buttons"}, "list": {"text", "sections"},
	"template": {"template"}, "poll": {"text", "options"},
}

func (cfg *messageConfig) Check(c *flow.Checker) { cfg.check(c) }

// check is Check for a message within another node's configuration.
func (cfg *messageConfig) check(c *flow.Checker, at ...any) {
	given := map[string]bool{
		"text": cfg.Text.Present(), "media": cfg.Media != nil, "buttons": len(cfg.Buttons) > 0, "sections": len(cfg.Sections) > 0,
		"template": cfg.Template != nil, "location": cfg.Location != nil, "contacts": len(cfg.Contacts) > 0, "options": len(cfg.Options) > 0,
	}
	for _, name := range needs[cfg.Kind] {
		c.Need(given[name], values.Below(at, name)...)
	}
	for _, name := range []string{"media", "buttons", "sections", "template", "location", "contacts", "options"} {
		if given[name] && !slices.Contains(needs[cfg.Kind], name) {
			c.Warn("message.unused", name+" has no effect in a message of kind "+cfg.Kind, "", values.Below(at, name)...)
		}
	}
	if cfg.Kind == "buttons" || cfg.Kind == "list" {
		c.ShortText(cfg.Text, maxInteractive, values.Below(at, "text")...)
	}
	cfg.checkChoices(c, at)
	if cfg.Location != nil {
		c.Degrees(cfg.Location.Latitude, 90, values.Below(at, "location", "latitude")...)
		c.Degrees(cfg.Location.Longitude, 180, values.Below(at, "location", "longitude")...)
	}
	if cfg.Kind == "poll" && len(cfg.Options) == 1 {
		c.Problem("message.options", "a poll needs at least 2 options", "", values.Below(at, "options")...)
	}
}

// Limits of options, over all parts of a message.
const (
	maxInteractive = 1024 // characters of the text above buttons and lists
	maxRows        = 10
)

func (cfg *messageConfig) checkChoices(c *flow.Checker, at []any) {
	buttons := newDistinct(c, "message.twice")
	for i, b := range cfg.Buttons {
		buttons.see("id "+b.ID, values.Below(at, "buttons", i, "id"))
		buttons.text("title", b.Title, values.Below(at, "buttons", i, "title"))
	}
	rows, ids := 0, newDistinct(c, "message.twice")
	for i, s := range cfg.Sections {
		rows += len(s.Rows)
		if len(cfg.Sections) > 1 {
			c.Need(s.Title.Present(), values.Below(at, "sections", i, "title")...)
		}
		for k, row := range s.Rows {
			ids.see("id "+row.ID, values.Below(at, "sections", i, "rows", k, "id"))
		}
	}
	if rows > maxRows {
		c.Problem("message.rows", fmt.Sprintf("has %d rows in total; a list can have %d", rows, maxRows), "", values.Below(at, "sections")...)
	}
	options := newDistinct(c, "message.twice")
	for i, o := range cfg.Options {
		options.text("option", o, values.Below(at, "options", i))
	}
}

func (cfg *messageConfig) Refer(c *flow.Checker, env *flow.Environment) { cfg.fits(c, env) }

// fits warns of content that a reference would refuse.
func (cfg *messageConfig) fits(c *flow.Checker, env *flow.Environment, at ...any) {
	text, constant := cfg.Text.Constant()
	for _, ch := range env.Channels {
		if !slices.Contains(ch.Send, cfg.Kind) && !slices.Contains(values.PlainTextKinds, cfg.Kind) {
			c.Warn("channel.unsupported", ch.Kind+" does not support messages of kind "+cfg.Kind, "", values.Below(at, "kind")...)
		}
		if n := utf8.RuneCountInString(text); constant && cfg.Kind == "text" && ch.Text > 0 && n > ch.Text {
			c.Warn("channel.length", fmt.Sprintf("has %s; %s allows %d", values.Count(n, "character"), ch.Kind, ch.Text), "", values.Below(at, "text")...)
		}
	}
}

// Codes of messages that cannot be built.
const (
	codeMessageEmpty  = "message.empty"
	codeMessageTarget = "message.no_input"
)

// Maximum numbers of characters in the texts of a message.
const (
	maxText        = 4096
	maxQuestion    = 1024 // text above buttons and lists
	maxCaption     = 1024
	maxButton      = 20
	maxRow         = 24
	maxDescription = 72
	maxName        = 1000
)

// Step sends the message.
func (cfg *messageConfig) Step(t *flow.Turn) (flow.Exit, error) {
	if err := cfg.send(t); err != nil {
		return flow.Exit{}, err
	}
	return flow.Out("out"), nil
}

// send renders and sends the message.
func (cfg *messageConfig) send(t *flow.Turn) error {
	content, err := cfg.content(t)
	if err != nil {
		return err
	}
	var replyTo string
	if cfg.ReplyTo == "input" {
		replyTo = values.TextOf(t.State.Input["id"])
	}
	t.Note(nil, map[string]any{"message": content})
	return t.SendRaw(content, replyTo, cfg.Typing)
}

// content returns the message in the format of a send request.
func (cfg *messageConfig) content(t *flow.Turn) (json.RawMessage, error) {
	w := &writing{t: t}
	w.m.Text("type", cfg.Kind)
	switch cfg.Kind {
	case "buttons":
		cfg.buttons(w)
	case "list":
		cfg.list(w)
	case "template":
		cfg.template(w)
	case "location":
		cfg.location(w)
	case "contacts":
		w.m.Value("contacts", w.data("contacts", cfg.Contacts))
	case "reaction":
		cfg.reaction(w)
	case "poll":
		cfg.poll(w)
	case "image", "video", "audio", "document", "sticker":
		cfg.media(w)
	default:
		w.m.Text("text", w.needed("text", cfg.Text, maxText))
	}
	return w.m.End(), w.err
}

func (cfg *messageConfig) buttons(w *writing) {
	w.m.Text("text", w.needed("text", cfg.Text, maxQuestion))
	list := make([]any, len(cfg.Buttons))
	for i, b := range cfg.Buttons {
		list[i] = map[string]any{"id": b.ID, "title": w.needed(fmt.Sprintf("buttons[%d].title", i), b.Title, maxButton)}
	}
	w.m.Value("buttons", list)
}

func (cfg *messageConfig) list(w *writing) {
	w.m.Text("text", w.needed("text", cfg.Text, maxQuestion))
	w.m.Text("button", w.needed("button", cfg.Button, maxButton))
	sections := make([]any, len(cfg.Sections))
	for i, s := range cfg.Sections {
		rows := make([]any, len(s.Rows))
		for k, r := range s.Rows {
			field := fmt.Sprintf("sections[%d].rows[%d]", i, k)
			row := map[string]any{"id": r.ID, "title": w.needed(field+".title", r.Title, maxRow)}
			if d := w.text(field+".description", r.Description, maxDescription); d != "" {
				row["description"] = d
			}
			rows[k] = row
		}
		section := map[string]any{"rows": rows}
		if title := w.text(fmt.Sprintf("sections[%d].title", i), s.Title, maxRow); title != "" {
			section["title"] = title
		}
		sections[i] = section
	}
	w.m.Value("sections", sections)
}

func (cfg *messageConfig) template(w *writing) {
	if cfg.Template == nil {
		w.fail(&flow.Error{Code: codeMessageEmpty, Message: "template: is missing"})
		return
	}
	template := map[string]any{
		"name":     w.needed("template.name", cfg.Template.Name, 512),
		"language": map[string]any{"code": w.needed("template.language.code", cfg.Template.Language.Code, 16)},
	}
	if len(cfg.Template.Components) > 0 {
		template["components"] = parameters(w.data("template.components", cfg.Template.Components))
	}
	w.m.Value("template", template)
}

// parameters converts the parameters of templates to texts: the network expects a
// text also for a number.
func parameters(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = parameters(v[i])
		}
	case map[string]any:
		for name, item := range v {
			switch item.(type) {
			case int, float64, bool, nil:
				if name == "text" || name == "payload" || name == "coupon_code" {
					v[name] = expression.Format(item)
				}
			default:
				v[name] = parameters(item)
			}
		}
	}
	return v
}

func (cfg *messageConfig) location(w *writing) {
	if cfg.Location == nil {
		w.fail(&flow.Error{Code: codeMessageEmpty, Message: "location: is missing"})
		return
	}
	w.m.Value("latitude", w.number("location.latitude", cfg.Location.Latitude))
	w.m.Value("longitude", w.number("location.longitude", cfg.Location.Longitude))
	w.m.Given("name", w.text("location.name", cfg.Location.Name, maxName))
	w.m.Given("address", w.text("location.address", cfg.Location.Address, maxName))
}

func (cfg *messageConfig) reaction(w *writing) {
	id := values.TextOf(w.t.State.Input["id"])
	if id == "" {
		w.fail(&flow.Error{Code: codeMessageTarget, Message: "there is no message to react to"})
	}
	w.m.Text("messageId", id)
	w.m.Text("emoji", w.text("emoji", cfg.Emoji, 64))
}

func (cfg *messageConfig) poll(w *writing) {
	w.m.Text("question", w.needed("text", cfg.Text, maxQuestion))
	options := make([]any, len(cfg.Options))
	for i, o := range cfg.Options {
		options[i] = w.needed(fmt.Sprintf("options[%d]", i), o, 100)
	}
	w.m.Value("options", options)
	if cfg.Multiple {
		w.m.Value("multiple", true)
	}
}

func (cfg *messageConfig) media(w *writing) {
	if cfg.Media == nil {
		w.fail(&flow.Error{Code: codeMessageEmpty, Message: "media: is missing"})
		return
	}
	where := w.needed("media.url", cfg.Media.URL, 2048)
	if strings.Contains(where, "://") {
		w.m.Text("url", where)
	} else {
		w.m.Text("mediaId", where)
	}
	if cfg.Kind != "audio" && cfg.Kind != "sticker" {
		w.m.Given("caption", w.text("media.caption", cfg.Media.Caption, maxCaption))
	}
	if cfg.Kind == "document" {
		w.m.Given("fileName", w.text("media.filename", cfg.Media.Filename, 240))
	}
	if cfg.Kind == "audio" && cfg.Media.Voice {
		w.m.Value("voice", true)
	}
}
