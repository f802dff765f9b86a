package web

import (
	"cmp"
	"encoding/json"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/trunklinehq/trunkline/provider"
)

// contentOf returns the body of a message; nil when a chat does not show it, such
// as messages between devices.
func contentOf(msg *waE2E.Message) provider.Content {
	switch {
	case msg == nil:
		return nil
	case msg.GetConversation() != "":
		return provider.Text{Text: msg.GetConversation()}
	case msg.GetExtendedTextMessage() != nil:
		x := msg.GetExtendedTextMessage()
		return provider.Text{Text: x.GetText(), Mentions: x.GetContextInfo().GetMentionedJID()}
	case msg.GetReactionMessage() != nil:
		r := msg.GetReactionMessage()
		return provider.Reaction{MessageID: r.GetKey().GetID(), Emoji: r.GetText()}
	}
	for _, of := range []func(*waE2E.Message) provider.Content{mediaOf, placeOf, answerOf, questionOf} {
		if c := of(msg); c != nil {
			return c
		}
	}
	return unknown(msg)
}

// unknown returns the content of a message whose type this package does not
// support; nil for messages between devices.
func unknown(msg *waE2E.Message) provider.Content {
	var kind string
	eachPart(msg, func(name string, _ any) bool {
		switch name {
		case "senderKeyDistributionMessage", "messageContextInfo", "protocolMessage", "keepInChatMessage", "pinInChatMessage":
			return true
		}
		kind = name
		return false
	})
	if kind == "" {
		return nil
	}
	return provider.Unknown{Kind: strings.TrimSuffix(kind, "Message")}
}

// eachPart calls fn with the parts that a message has, until fn returns false.
func eachPart(msg *waE2E.Message, fn func(name string, part any) bool) {
	if msg == nil {
		return
	}
	msg.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Kind() != protoreflect.MessageKind || f.IsList() {
			return true
		}
		return fn(f.JSONName(), v.Message().Interface())
	})
}

// placeOf returns a location or contact cards, or nil.
func placeOf(msg *waE2E.Message) provider.Content {
	switch {
	case msg.GetLocationMessage() != nil:
		l := msg.GetLocationMessage()
		return provider.Location{
			Latitude: l.GetDegreesLatitude(), Longitude: l.GetDegreesLongitude(), Name: l.GetName(), Address: l.GetAddress(), URL: l.GetURL(),
		}
	case msg.GetLiveLocationMessage() != nil:
		l := msg.GetLiveLocationMessage()
		return provider.Location{Latitude: l.GetDegreesLatitude(), Longitude: l.GetDegreesLongitude(), Name: l.GetCaption()}
	case msg.GetContactMessage() != nil:
		return provider.Contacts{Contacts: []provider.Card{card(msg.GetContactMessage())}}
	case msg.GetContactsArrayMessage() != nil:
		var out provider.Contacts
		for _, c := range msg.GetContactsArrayMessage().GetContacts() {
			out.Contacts = append(out.Contacts, card(c))
		}
		return out
	}
	return nil
}

// answerOf returns the answer to buttons, a list or a form, or nil.
func answerOf(msg *waE2E.Message) provider.Content {
	switch {
	case msg.GetButtonsResponseMessage() != nil:
		r := msg.GetButtonsResponseMessage()
		return provider.Reply{ID: r.GetSelectedButtonID(), Title: r.GetSelectedDisplayText(), To: provider.ReplyButton}
	case msg.GetListResponseMessage() != nil:
		r := msg.GetListResponseMessage()
		return provider.Reply{
			ID: r.GetSingleSelectReply().GetSelectedRowID(), Title: r.GetTitle(), Description: r.GetDescription(), To: provider.ReplyRow,
		}
	case msg.GetTemplateButtonReplyMessage() != nil:
		r := msg.GetTemplateButtonReplyMessage()
		return provider.Reply{ID: r.GetSelectedID(), Title: r.GetSelectedDisplayText(), To: provider.ReplyTemplate}
	case msg.GetInteractiveResponseMessage() != nil:
		r := msg.GetInteractiveResponseMessage()
		f := r.GetNativeFlowResponseMessage()
		return provider.Form{Name: f.GetName(), Text: r.GetBody().GetText(), Data: cmp.Or(f.GetParamsJSON(), "{}")}
	}
	return nil
}

// questionOf returns a poll, or the text of a message with buttons or a list,
// which can be answered only on the phone; else nil.
func questionOf(msg *waE2E.Message) provider.Content {
	for _, p := range []*waE2E.PollCreationMessage{
		msg.GetPollCreationMessage(), msg.GetPollCreationMessageV2(), msg.GetPollCreationMessageV3(), msg.GetPollCreationMessageV5(),
		msg.GetPollCreationMessageV4().GetMessage().GetPollCreationMessage(), msg.GetPollCreationMessageV6(),
	} {
		if p == nil {
			continue
		}
		out := provider.Poll{Question: p.GetName(), Multiple: p.GetSelectableOptionsCount() != 1}
		for _, o := range p.GetOptions() {
			out.Options = append(out.Options, o.GetOptionName())
		}
		return out
	}
	var text string
	switch {
	case msg.GetButtonsMessage() != nil:
		text = msg.GetButtonsMessage().GetContentText()
	case msg.GetListMessage() != nil:
		text = msg.GetListMessage().GetDescription()
	case msg.GetTemplateMessage() != nil:
		text = msg.GetTemplateMessage().GetHydratedTemplate().GetHydratedContentText()
	case msg.GetInteractiveMessage() != nil:
		text = msg.GetInteractiveMessage().GetBody().GetText()
	case msg.GetHighlyStructuredMessage() != nil:
		text = msg.GetHighlyStructuredMessage().GetHydratedHsm().GetHydratedTemplate().GetHydratedContentText()
	}
	if text == "" {
		return nil
	}
	return provider.Text{Text: text}
}

// card parses a contact card.
func card(c *waE2E.ContactMessage) provider.Card {
	out := provider.Card{Name: provider.CardName{Formatted: c.GetDisplayName()}, VCard: c.GetVcard()}
	whole := unfold.Replace(c.GetVcard())
	for line := range strings.Lines(whole) {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !ok || value == "" {
			continue
		}
		name, params, _ := strings.Cut(key, ";")
		if _, rest, grouped := strings.Cut(name, "."); grouped { // item1.TEL
			name = rest
		}
		addToCard(&out, strings.ToUpper(name), params, value)
	}
	return out
}

// unfold joins lines that were folded; plain reverses escape.
var (
	unfold = strings.NewReplacer("\r\n ", "", "\r\n\t", "", "\n ", "", "\n\t", "")
	plain  = strings.NewReplacer("\\\\", "\\", "\\,", ",", "\\;", ";", "\\n", "\n", "\\N", "\n", "\\:", ":")
)

// addToCard adds a property of a vCard (RFC 2426).
func addToCard(c *provider.Card, name, params, value string) {
	kind, waID := "", ""
	for p := range strings.SplitSeq(params, ";") {
		switch k, v, _ := strings.Cut(p, "="); strings.ToUpper(k) {
		case "TYPE":
			kind = cmp.Or(kind, strings.ToUpper(v))
		case "WAID":
			waID = v
		}
	}
	if name == "ORG" {
		company, department, _ := strings.Cut(value, ";")
		c.Org = &provider.CardOrg{Company: plain.Replace(company), Department: plain.Replace(department)}
		return
	}
	value = plain.Replace(value)
	switch name {
	case "TEL":
		c.Phones = append(c.Phones, provider.CardPhone{Phone: value, WaID: waID, Type: kind})
	case "EMAIL":
		c.Emails = append(c.Emails, provider.CardEmail{Email: value, Type: kind})
	case "URL":
		c.URLs = append(c.URLs, provider.CardURL{URL: value, Type: kind})
	case "FN":
		c.Name.Formatted = cmp.Or(c.Name.Formatted, value)
	}
}

// raw encodes as JSON what only this package decodes.
func raw(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
