package compat

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/messaging"
)

// published is an event with its payload read: one of the pointers is set, or none
// when no format has a likeness of its type.
type published struct {
	Event
	message *messaging.MessagePayload
	status  *messaging.StatusPayload
	call    *messaging.CallPayload
	session *messaging.SessionPayload
}

func read(ev Event) (*published, error) {
	t := &published{Event: ev}
	var into any
	switch messaging.EventType(ev.Type) {
	case messaging.EventMessage:
		t.message = &messaging.MessagePayload{}
		into = t.message
	case messaging.EventStatus:
		t.status = &messaging.StatusPayload{}
		into = t.status
	case messaging.EventCalls:
		t.call = &messaging.CallPayload{}
		into = t.call
	case messaging.EventSession:
		t.session = &messaging.SessionPayload{}
		into = t.session
	default:
		return t, nil
	}
	if err := json.Unmarshal(ev.Payload, into); err != nil {
		return nil, fmt.Errorf("compat: reading the payload of a %q event: %w", ev.Type, err)
	}
	return t, nil
}

// head is that of the message or the status.
func (t *published) head() *messaging.Head {
	if t.status != nil {
		return &t.status.Head
	}
	return &t.message.Head
}

// The servers of WhatsApp's addresses.
const (
	people = "@s.whatsapp.net"
	hidden = "@lid"
	groups = "@g.us"
)

// chat is the address of the event's chat.
func (t *published) chat(remoteJID string) string { return addressIn(t.ChatID, remoteJID) }

// addressIn is the address of a chat id, or of a remoteJid when there is none.
func addressIn(chatID, remoteJID string) string {
	if chatID == "" {
		return addressOf(remoteJID)
	}
	if isDigits(chatID) {
		return chatID + people // Cloud API writes a bare number
	}
	return chatID
}

// addressOf is the address of a payload's remoteJid. Whether digits are a phone
// number or one of WhatsApp's hidden ids it does not say: a number has 15 digits
// at most, and none in use has more than 14.
func addressOf(remoteJID string) string {
	id, kind, _ := strings.Cut(remoteJID, "::")
	switch {
	case kind == "group":
		return id + groups
	case !isDigits(id):
		return id
	case len(id) >= 15:
		return id + hidden
	}
	return id + people
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isGroup says whether an address is a group's.
func isGroup(address string) bool { return strings.HasSuffix(address, groups) }

// sender is who wrote the message in a group; "": a person's chat, or unknown.
func (t *published) sender(chat string) string {
	switch {
	case !isGroup(chat):
		return ""
	case t.head().Mine:
		return t.Reference.Self
	case t.message != nil && t.message.Participant != nil:
		return addressIn(t.message.Participant.ChatID, t.message.Participant.RemoteJID)
	}
	return ""
}

// author is the name of who wrote the message.
func (t *published) author() string {
	m := t.message
	switch {
	case m.Mine:
		return t.Reference.Profile
	case m.Participant != nil && m.Participant.PushName != "":
		return m.Participant.PushName
	}
	return m.PushName
}

// byProgram says whether an own message was sent through the API, and not by a
// person on the account's phone.
func (t *published) byProgram() bool { return t.Actor != messaging.ActorPhone }

// file is the address of a message's file, or "".
func (t *published) file() string {
	if t.message.FileURL == "" {
		return ""
	}
	return t.Reference.BaseURL + "/" + t.message.FileURL
}

// isMedia says whether a message is a file.
func isMedia(m *messaging.MessagePayload) bool {
	return m.Type != messaging.TypeText && m.Type != ""
}
