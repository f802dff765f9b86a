package node

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Codes of messages that cannot be made.
const (
	codeMessageEmpty  = "message.empty"
	codeMessageTarget = "message.no_input"
)

// Most characters of the texts of a message.
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
func (c *messageConfig) Step(t *flow.Turn) (flow.Exit, error) {
	if err := c.send(t); err != nil {
		return flow.Exit{}, err
	}
	return flow.Out("out"), nil
}

// send renders and sends the message.
func (c *messageConfig) send(t *flow.Turn) error {
	content, err := c.content(t)
	if err != nil {
		return err
	}
	var replyTo string
	if c.ReplyTo == "input" {
		replyTo = values.TextOf(t.State.Input["id"])
	}
	t.Note(nil, map[string]any{"message": content})
	return t.SendRaw(content, replyTo, c.Typing)
}

// content is the message as a send request has it.
func (c *messageConfig) content(t *flow.Turn) (json.RawMessage, error) {
	w := &writing{t: t}
	w.m.Text("type", c.Kind)
	switch c.Kind {
	case "buttons":
		c.buttons(w)
	case "list":
		c.list(w)
	case "template":
		c.template(w)
	case "location":
		c.location(w)
	case "contacts":
		w.m.Value("contacts", w.data("contacts", c.Contacts))
	case "reaction":
		c.reaction(w)
	case "poll":
		c.poll(w)
	case "image", "video", "audio", "document", "sticker":
		c.media(w)
	default:
		w.m.Text("text", w.needed("text", c.Text, maxText))
	}
	return w.m.End(), w.err
}

func (c *messageConfig) buttons(w *writing) {
	w.m.Text("text", w.needed("text", c.Text, maxQuestion))
	list := make([]any, len(c.Buttons))
	for i, b := range c.Buttons {
		list[i] = map[string]any{"id": b.ID, "title": w.needed(fmt.Sprintf("buttons[%d].title", i), b.Title, maxButton)}
	}
	w.m.Value("buttons", list)
}

func (c *messageConfig) list(w *writing) {
	w.m.Text("text", w.needed("text", c.Text, maxQuestion))
	w.m.Text("button", w.needed("button", c.Button, maxButton))
	sections := make([]any, len(c.Sections))
	for i, s := range c.Sections {
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

func (c *messageConfig) template(w *writing) {
	if c.Template == nil {
		w.fail(&flow.Error{Code: codeMessageEmpty, Message: "template: is missing"})
		return
	}
	template := map[string]any{
		"name":     w.needed("template.name", c.Template.Name, 512),
		"language": map[string]any{"code": w.needed("template.language.code", c.Template.Language.Code, 16)},
	}
	if len(c.Template.Components) > 0 {
		template["components"] = parameters(w.data("template.components", c.Template.Components))
	}
	w.m.Value("template", template)
}

// parameters makes texts of what templates are filled with: a number in a
// variable is a text to the network.
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

func (c *messageConfig) location(w *writing) {
	if c.Location == nil {
		w.fail(&flow.Error{Code: codeMessageEmpty, Message: "location: is missing"})
		return
	}
	w.m.Value("latitude", w.number("location.latitude", c.Location.Latitude))
	w.m.Value("longitude", w.number("location.longitude", c.Location.Longitude))
	w.m.Given("name", w.text("location.name", c.Location.Name, maxName))
	w.m.Given("address", w.text("location.address", c.Location.Address, maxName))
}

func (c *messageConfig) reaction(w *writing) {
	id := values.TextOf(w.t.State.Input["id"])
	if id == "" {
		w.fail(&flow.Error{Code: codeMessageTarget, Message: "there is no message to react to"})
	}
	w.m.Text("messageId", id)
	w.m.Text("emoji", w.text("emoji", c.Emoji, 64))
}

func (c *messageConfig) poll(w *writing) {
	w.m.Text("question", w.needed("text", c.Text, maxQuestion))
	options := make([]any, len(c.Options))
	for i, o := range c.Options {
		options[i] = w.needed(fmt.Sprintf("options[%d]", i), o, 100)
	}
	w.m.Value("options", options)
	if c.Multiple {
		w.m.Value("multiple", true)
	}
}

func (c *messageConfig) media(w *writing) {
	if c.Media == nil {
		w.fail(&flow.Error{Code: codeMessageEmpty, Message: "media: is missing"})
		return
	}
	where := w.needed("media.url", c.Media.URL, 2048)
	if strings.Contains(where, "://") {
		w.m.Text("url", where)
	} else {
		w.m.Text("mediaId", where)
	}
	if c.Kind != "audio" && c.Kind != "sticker" {
		w.m.Given("caption", w.text("media.caption", c.Media.Caption, maxCaption))
	}
	if c.Kind == "document" {
		w.m.Given("fileName", w.text("media.filename", c.Media.Filename, 240))
	}
	if c.Kind == "audio" && c.Media.Voice {
		w.m.Value("voice", true)
	}
}

// writing renders the parts of a message and keeps the first error.
type writing struct {
	t   *flow.Turn
	m   flow.Members
	err error
}

func (w *writing) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// text renders a text of at most so many characters.
func (w *writing) text(field string, x flow.Text, most int) string {
	s, err := w.t.Text(x)
	switch {
	case err != nil:
		w.fail(fmt.Errorf("%s: %w", field, err))
	case len(s) > most && utf8.RuneCountInString(s) > most:
		w.fail(flow.TooLarge(fmt.Sprintf("%s: has more than %d characters", field, most)))
	}
	return s
}

// needed is text for what must not be empty.
func (w *writing) needed(field string, x flow.Text, most int) string {
	s := w.text(field, x, most)
	if strings.TrimSpace(s) == "" {
		w.fail(&flow.Error{Code: codeMessageEmpty, Message: field + ": is empty"})
	}
	return s
}

func (w *writing) data(field string, list []flow.Data) []any {
	out := make([]any, len(list))
	for i, d := range list {
		v, err := w.t.Data(d)
		if err == nil {
			v, err = flow.Admit(v)
		}
		if err != nil {
			w.fail(fmt.Errorf("%s[%d]: %w", field, i, err))
		}
		out[i] = v
	}
	return out
}

func (w *writing) number(field string, d flow.Data) any {
	v, err := w.t.Data(d)
	if err != nil {
		w.fail(fmt.Errorf("%s: %w", field, err))
		return nil
	}
	n, ok := flow.ConformNumber(v, false)
	if !ok {
		w.fail(flow.WrongType(field + ": must be a number"))
	}
	return n
}
