package messaging

import (
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
)

// words says in text what a message is, with the structured value beside it:
// payloads have only the five types of the interface.
func words(c provider.Content) Body {
	switch v := c.(type) {
	case provider.Text:
		return Body{Text: v.Text}
	case provider.Template:
		return Body{Text: fmt.Sprintf("Template %s (%s)", v.Template.Name, v.Template.Language.Code)}
	case provider.Buttons:
		return Body{Text: numbered(v.Text, v.Buttons)}
	case provider.List:
		var rows []provider.Choice
		for _, s := range v.Sections {
			rows = append(rows, s.Rows...)
		}
		return Body{Text: numbered(v.Text, rows)}
	case provider.Location:
		return Body{Text: place(v), Extras: Extras{Location: &v}}
	case provider.Reaction:
		if v.Emoji == "" {
			return Body{Text: "Reaction removed", Extras: Extras{Reaction: &v}}
		}
		return Body{Text: "Reacted with " + v.Emoji, Extras: Extras{Reaction: &v}}
	case provider.Reply:
		return Body{Text: v.Title, Extras: Extras{Reply: &v}}
	case provider.Unknown:
		return Body{Text: strings.TrimSpace("Unsupported message " + v.Kind), Extras: Extras{Unsupported: &v}}
	}
	return words(provider.Unknown{Kind: c.Type()})
}

// numbered writes a question with its answers below each other.
func numbered(text string, choices []provider.Choice) string {
	var b strings.Builder
	b.WriteString(text)
	for i, c := range choices {
		fmt.Fprintf(&b, "\n%d. %s", i+1, c.Title)
		if c.Description != "" {
			b.WriteString(" – " + c.Description)
		}
	}
	return b.String()
}

func place(l provider.Location) string {
	at := fmt.Sprintf("%g, %g", l.Latitude, l.Longitude)
	var names []string
	for _, s := range []string{l.Name, l.Address} {
		if s != "" {
			names = append(names, s)
		}
	}
	if len(names) == 0 {
		return "Location: " + at
	}
	return "Location: " + strings.Join(names, ", ") + " (" + at + ")"
}

// asText is the text that replaces content on a line that lacks its type, or
// false where that would lose the meaning.
func asText(c provider.Content) (provider.Text, bool) {
	switch c.(type) {
	case provider.Buttons, provider.List:
		return provider.Text{Text: words(c).Text}, true
	}
	return provider.Text{}, false
}
