package messenger

import (
	"fmt"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// sendable are the content types that a page can send.
var sendable = []string{"text", "image", "video", "audio", "document", "buttons", "list", "interactive"}

var (
	_ provider.Validator = (*Provider)(nil)
	_ provider.Splitter  = (*Provider)(nil)
)

// Validate checks a message against Meta's limits.
func (*Provider) Validate(c provider.Content) error {
	for _, part := range split(c) {
		if _, err := compose(part); err != nil {
			if _, words := part.(provider.Text); words && part.Type() != c.Type() {
				err = graph.Renamed(err, atText, wordsOf(c))
			}
			return err
		}
	}
	return nil
}

// wordsOf returns the field of content that a separate text message contains.
func wordsOf(c provider.Content) string {
	if _, file := c.(provider.Media); file {
		return "message.caption"
	}
	return atText
}

// Split sends the caption of a file, and the question of a list with cards, as
// a separate text: pages have no captions, and cards have no question.
func (*Provider) Split(c provider.Content) []provider.Content { return split(c) }

func split(content provider.Content) []provider.Content {
	switch c := content.(type) {
	case provider.Media:
		if c.Caption != "" && mediaTypes[c.Kind] != "" {
			words := provider.Text{Text: c.Caption}
			c.Caption = ""
			return []provider.Content{c, words}
		}
	case provider.List:
		if !fitsButtons(c) && c.Text != "" {
			words := provider.Text{Text: c.Text}
			c.Text = ""
			return []provider.Content{words, c}
		}
	}
	return []provider.Content{content}
}

// compose returns the body of a [Message] for content, which keeps all limits.
// An error names the field as the content does.
func compose(content provider.Content) (Body, error) {
	body, names, err := bodyOf(content)
	if err != nil {
		return Body{}, err
	}
	r := &graph.Rules{}
	if file, is := content.(provider.Media); is {
		r.Size(file.Kind, file.Size, mediaLimits[file.Kind])
	}
	body.check(r)
	return body, graph.Renamed(r.Result(), names...)
}

// bodyOf returns the body for content, and the names of its fields in the
// content where they differ.
func bodyOf(content provider.Content) (body Body, names []string, err error) {
	switch c := content.(type) {
	case provider.Text:
		return Body{Text: c.Text}, nil, nil
	case provider.Media:
		if mediaTypes[c.Kind] == "" {
			break
		}
		if c.Caption != "" {
			return Body{}, nil, missing("words below a file (message.caption)")
		}
		return Body{Attachment: &Attachment{mediaTypes[c.Kind], fileOf(c)}}, []string{atPayload, "message"}, nil
	case provider.Buttons:
		return Body{Text: c.Text, QuickReplies: quick(c.Buttons)}, []string{atQuickReplies, "message.buttons", ".payload", ".id"}, nil
	case provider.List:
		if !fitsButtons(c) && c.Text != "" {
			return Body{}, nil, missing("a question beside its cards (message.text)")
		}
		return listOf(c), []string{
			atQuickReplies, "message.rows", atPayload + ".elements", "message.rows", ".subtitle", ".description",
			".buttons[0].title", "'s button (message.button)", ".buttons[0].payload", ".id", ".payload", ".id",
		}, nil
	case provider.Interactive:
		return Body{Attachment: &Attachment{"template", c.Interactive}}, []string{atPayload, "message.interactive"}, nil
	case nil:
		return Body{}, nil, missing("a message without content")
	}
	return Body{}, nil, missing("content of type %q", content.Type())
}

var mediaTypes = map[provider.MediaKind]string{
	provider.Image: "image", provider.Video: "video", provider.Audio: "audio", provider.Document: "file",
}

// pending is the placeholder of the id of a file that is uploaded later.
const pending = "pending"

// fileOf returns a file with the id [pending] if it has to be uploaded.
func fileOf(c provider.Media) File {
	switch {
	case c.ID != "":
		return File{ID: c.ID}
	case c.Open != nil || c.StoredID != "":
		return File{ID: pending}
	}
	return File{URL: c.URL}
}

func quick(choices []provider.Choice) []QuickReply {
	out := make([]QuickReply, len(choices))
	for i, c := range choices {
		out[i] = QuickReply{ContentType: "text", Title: c.Title, Payload: c.ID}
	}
	return out
}

// rows returns the answers of a list.
func rows(c provider.List) []provider.Choice {
	var out []provider.Choice
	for _, s := range c.Sections {
		out = append(out, s.Rows...)
	}
	return out
}

// fitsButtons reports whether all answers of a list fit on quick replies.
func fitsButtons(c provider.List) bool {
	all := rows(c)
	for _, row := range all {
		if row.Description != "" || utf8.RuneCountInString(row.Title) > maxTitle {
			return false
		}
	}
	return len(all) <= maxQuickReplies
}

// listOf returns quick replies if the answers are short, else cards with a
// button each. The question of cards is sent before them: see [Provider.Split].
func listOf(c provider.List) Body {
	if fitsButtons(c) {
		return Body{Text: c.Text, QuickReplies: quick(rows(c))}
	}
	var cards GenericTemplate
	for _, row := range rows(c) {
		cards.Elements = append(cards.Elements, Element{
			Title: row.Title, Subtitle: row.Description,
			Buttons: []Button{{Type: "postback", Title: c.Button, Payload: row.ID}},
		})
	}
	return Body{Attachment: &Attachment{"template", cards}}
}

func missing(format string, args ...any) error {
	return &provider.Unsupported{What: fmt.Sprintf(format, args...)}
}
