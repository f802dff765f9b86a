package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// PlainText says in text what a message is, with the structured value beside it:
// payloads have only the five types of the interface.
func PlainText(c provider.Content) payload.Body {
	switch v := c.(type) {
	case provider.Text:
		return payload.Body{Text: v.Text}
	case provider.Template:
		return payload.Body{
			Text:   fmt.Sprintf("Template %s (%s)", v.Template.Name, v.Template.Language.Code),
			Extras: payload.Extras{Template: &payload.SentTemplate{Name: v.Template.Name, Language: v.Template.Language, Components: append([]json.RawMessage{}, v.Template.Components...)}},
		}
	case provider.Buttons:
		return payload.Body{Text: numberedText(v.Text, store.ChoicesOf(v))}
	case provider.List:
		return payload.Body{Text: numberedText(v.Text, store.ChoicesOf(v))}
	case provider.Poll:
		return payload.Body{
			Text:   numberedText(v.Question, store.ChoicesOf(v)),
			Extras: payload.Extras{Poll: &payload.Poll{Question: v.Question, Options: v.Options, Multiple: v.Multiple}},
		}
	case provider.Vote:
		return voteBody(v)
	case provider.Edit:
		return payload.Body{Text: v.Text, Extras: payload.Extras{Edited: &payload.MessageRef{MessageID: v.MessageID}}}
	case provider.Location:
		return payload.Body{Text: locationText(v), Extras: payload.Extras{Location: &v}}
	case provider.Reaction:
		if v.Emoji == "" {
			return payload.Body{Text: "Reaction removed", Extras: payload.Extras{Reaction: &v}}
		}
		return payload.Body{Text: "Reacted with " + v.Emoji, Extras: payload.Extras{Reaction: &v}}
	case provider.Reply:
		return payload.Body{Text: replyText(v), Extras: payload.Extras{Reply: &v}}
	case provider.Interactive:
		return payload.Body{Text: interactiveText(v)}
	}
	return receivedText(c)
}

// receivedText says what only comes from contacts.
func receivedText(c provider.Content) payload.Body {
	switch v := c.(type) {
	case provider.Media:
		return attached(v)
	case provider.Contacts:
		return payload.Body{Text: contactsText(v), Extras: payload.Extras{Contacts: v.Contacts}}
	case provider.Order:
		return payload.Body{Text: orderText(v), Extras: payload.Extras{Order: &v}}
	case provider.Form:
		return payload.Body{Text: cmp.Or(v.Text, strings.TrimSpace("Form "+v.Name)), Extras: payload.Extras{Form: formOf(v)}}
	case provider.Revoke:
		return payload.Body{Text: "This message was deleted", Extras: payload.Extras{Revoked: &payload.MessageRef{MessageID: v.MessageID}}}
	case provider.Shared:
		return payload.Body{Text: sharedText(v)}
	case provider.Opened:
		return payload.Body{Text: "Opened the chat"}
	case provider.Unknown:
		return payload.Body{Text: strings.TrimSpace("Unsupported message " + v.Kind), Extras: payload.Extras{Unsupported: &v}}
	}
	return receivedText(provider.Unknown{Kind: c.Type()})
}

// voteBody says what a vote chooses. One option is also an answer, as that to a
// question in numbered text.
func voteBody(v provider.Vote) payload.Body {
	b := payload.Body{Text: strings.Join(v.Options, ", "), Extras: payload.Extras{Poll: &payload.Poll{MessageID: v.MessageID, Selected: v.Options}}}
	switch len(v.Options) {
	case 0:
		b.Text = "Vote removed"
	case 1:
		b.Reply = &provider.Reply{ID: v.Options[0], Title: v.Options[0]}
	}
	return b
}

// numberedText writes a question with its answers below each other.
func numberedText(text string, choices []provider.Choice) string {
	var b strings.Builder
	b.WriteString(text)
	for i, c := range choices {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d. %s", i+1, c.Title)
		if c.Description != "" {
			b.WriteString(" – " + c.Description)
		}
	}
	return b.String()
}

func locationText(l provider.Location) string {
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

// ToText is the text that replaces content on a reference that lacks its type, or
// false where that would lose the meaning.
func ToText(c provider.Content) (provider.Text, bool) {
	switch c.(type) {
	case provider.Buttons, provider.List, provider.Poll:
		return provider.Text{Text: PlainText(c).Text}, true
	}
	return provider.Text{}, false
}

// replyText says what was pressed. A contact who is asked for a permission sees no title.
func replyText(r provider.Reply) string {
	if r.Title == "" && r.To == provider.ReplyPermission {
		return "Permission to call: " + r.ID
	}
	return cmp.Or(r.Title, r.ID)
}

// interactiveText is the text of a message in the network's own form.
func interactiveText(i provider.Interactive) string {
	var v struct {
		Body struct {
			Text string `json:"text"`
		} `json:"body"`
	}
	_ = json.Unmarshal(i.Interactive, &v) // one without a text is called by its type
	return cmp.Or(v.Body.Text, "Interactive message")
}

// contactsText lists whose cards they are.
func contactsText(c provider.Contacts) string {
	var names []string
	for _, card := range c.Contacts {
		name := cmp.Or(card.Name.Formatted, strings.TrimSpace(card.Name.First+" "+card.Name.Last))
		if name == "" && len(card.Phones) > 0 {
			name = card.Phones[0].Phone
		}
		if name != "" {
			names = append(names, name)
		}
	}
	what := "Contacts"
	if len(c.Contacts) == 1 {
		what = "Contact"
	}
	if len(names) == 0 {
		return what
	}
	return what + ": " + strings.Join(names, ", ")
}

// sharedText says what was shared: in the words that were written beside it, which
// as a rule hold the link, else by its title and address.
func sharedText(s provider.Shared) string {
	var lines []string
	for _, part := range []string{s.Title, s.Detail, s.URL} {
		if part != "" {
			lines = append(lines, part)
		}
	}
	return cmp.Or(s.Text, strings.Join(lines, "\n"), strings.TrimSpace("Shared "+s.Kind))
}

// orderText lists what is ordered.
func orderText(o provider.Order) string {
	var items []string
	for _, i := range o.Items {
		items = append(items, strings.TrimPrefix(i.Quantity.String()+" × "+i.ProductID, " × "))
	}
	text := "Order"
	if len(items) > 0 {
		text += ": " + strings.Join(items, ", ")
	}
	if o.Text != "" {
		text += "\n" + o.Text
	}
	return text
}

// formOf keeps the answers of a form as they are: what is no JSON is a string.
func formOf(f provider.Form) *payload.Form {
	data := json.RawMessage(text.Sanitize(f.Data))
	if !json.Valid(data) {
		data = payload.MustEncode(string(data))
	}
	return &payload.Form{Name: f.Name, Data: data}
}
