package compat

import (
	"fmt"

	"github.com/trunklinehq/trunkline/messaging"
)

// object is a JSON object of which WhatsApp's messages are made. Members that
// say nothing are left out, as their libraries do.
type object map[string]any

// stripped is an object without the members that say nothing.
func stripped(o object) object {
	for name, value := range o {
		if value == "" || value == int64(0) || value == false {
			delete(o, name)
		}
	}
	return o
}

// content is a message as WhatsApp's own clients have it, in the spelling of
// Baileys, and its kind: the name of its one member.
func (t *published) content() (kind string, message object) {
	m := t.message
	switch {
	case m.Reaction != nil:
		return one("reactionMessage", object{"key": t.keyOf(m.Reaction.MessageID, !m.Mine), "text": m.Reaction.Emoji})
	case m.Revoked != nil:
		return one("protocolMessage", object{"key": t.keyOf(m.Revoked.MessageID, m.Mine), "type": 0})
	case m.Edited != nil:
		_, now := t.said()
		return one("protocolMessage", object{
			"key": t.keyOf(m.Edited.MessageID, m.Mine), "type": 14, "editedMessage": now, "timestampMs": m.MessageTimestamp.UnixMilli(),
		})
	}
	return t.said()
}

// said is the content of a message that is not a note on another one.
func (t *published) said() (kind string, message object) {
	m := t.message
	switch {
	case isMedia(m):
		return t.media()
	case m.Location != nil:
		l := m.Location
		return one("locationMessage", stripped(object{
			"degreesLatitude": l.Latitude, "degreesLongitude": l.Longitude, "name": l.Name, "address": l.Address,
		}))
	case len(m.Contacts) > 0:
		return contacts(m.Contacts)
	case m.Poll != nil && m.Poll.MessageID == "":
		return poll(m.Poll)
	case m.Reply != nil:
		return one("buttonsResponseMessage", object{"selectedButtonId": m.Reply.ID, "selectedDisplayText": m.Text})
	}
	return "conversation", object{"conversation": m.Text}
}

func one(kind string, content object) (string, object) { return kind, object{kind: content} }

// media is a message with a file.
func (t *published) media() (kind string, message object) {
	m := t.message
	c := stripped(object{
		"url": t.file(), "mimetype": m.MimeType, "caption": m.Caption, "title": m.Title, "fileName": m.FileName, "fileLength": m.FileLength,
		"seconds": m.Seconds, "pageCount": m.PageCount, "height": m.Height, "width": m.Width, "jpegThumbnail": m.JPEGThumbnail,
		"waveform": m.Waveform, "ptt": m.Type == messaging.TypeAudio && m.Waveform != "",
	})
	if m.Sticker {
		return one("stickerMessage", c)
	}
	return one(m.Type+"Message", c)
}

func poll(p *messaging.Poll) (kind string, message object) {
	options := make([]object, len(p.Options))
	for i, o := range p.Options {
		options[i] = object{"optionName": o}
	}
	limit := 1
	if p.Multiple {
		limit = 0 // as many as one likes
	}
	return one("pollCreationMessage", object{"name": p.Question, "options": options, "selectableOptionsCount": limit})
}

// keyOf names another message of the chat.
func (t *published) keyOf(id string, mine bool) object {
	chat := t.chat(t.message.RemoteJID)
	key := object{"remoteJid": chat, "fromMe": mine, "id": id}
	if sender := t.sender(chat); sender != "" && mine == t.message.Mine {
		key["participant"] = sender
	}
	return key
}

// quoted is what the message answers or was forwarded from, or empty.
func (t *published) quoted() object {
	c := t.message.Context
	if c == nil {
		return object{}
	}
	return stripped(object{"stanzaId": c.MessageID, "isForwarded": c.Forwarded})
}

// votes are the options of a poll with who has ticked them in this vote.
func (t *published) votes(voter string) []object {
	p, picked := t.message.Poll, map[string]bool{}
	for _, name := range p.Selected {
		picked[name] = true
	}
	out := make([]object, len(p.Options))
	for i, name := range p.Options {
		voters := []string{}
		if picked[name] {
			voters = []string{voter}
		}
		out[i] = object{"name": name, "voters": voters}
	}
	return out
}

// isVote says whether a message is a vote on a poll.
func isVote(m *messaging.MessagePayload) bool { return m.Poll.IsVote() }

// respelled is a value whose members have other names: a function gives the name
// and the value of each.
func respelled(v any, member func(name string, value any) (string, any)) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, value := range v {
			name, value := member(name, value)
			out[name] = respelled(value, member)
		}
		return out
	case []object:
		out := make([]any, len(v))
		for i := range v {
			out[i] = respelled(v[i], member)
		}
		return out
	}
	return v
}

// long is how Baileys writes an integer of 64 bits.
func long(n int64) object {
	return object{"low": int32(n), "high": int32(n >> 32), "unsigned": true}
}

// counted says how many cards there are, as WhatsApp does.
func counted(n int) string { return fmt.Sprintf("%d contacts", n) }
