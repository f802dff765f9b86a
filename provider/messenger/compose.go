package messenger

import (
	"fmt"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// sendable are the content types that a page sends.
var sendable = []string{"text", "image", "video", "audio", "document", "buttons", "list", "interactive"}

var (
	_ provider.Validator = (*Provider)(nil)
	_ provider.Splitter  = (*Provider)(nil)
)

// Validate holds a message against Meta's limits.
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

// wordsOf is the member of content that a part of its own says.
func wordsOf(c provider.Content) string {
	if _, file := c.(provider.Media); file {
		return "message.caption"
	}
	return atText
}

// Split sends what is below a file, and a question whose answers are
// cards, as a text: pages have no captions, and cards no question.
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

// compose turns content into the body of a [Message] that keeps all limits. An
// error names the member as the content has it.
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

// bodyOf returns the body for content, and what its members are called there,
// where that differs.
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

// pending takes the place of the id of a file that is still to be uploaded.
const pending = "pending"

// fileOf has the id [pending] where the file is in our hands.
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

// rows are the answers of a list.
func rows(c provider.List) []provider.Choice {
	var out []provider.Choice
	for _, s := range c.Sections {
		out = append(out, s.Rows...)
	}
	return out
}

// fitsButtons says whether all answers of a list fit on quick replies.
func fitsButtons(c provider.List) bool {
	all := rows(c)
	for _, row := range all {
		if row.Description != "" || utf8.RuneCountInString(row.Title) > maxTitle {
			return false
		}
	}
	return len(all) <= maxQuickReplies
}

// listOf makes quick replies of brief answers and cards of longer ones, each
// with a button that chooses it. The question of cards goes before them: see
// [Provider.Split].
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
