package messenger

import (
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// apart separates the id of a message from the suffix of ids that this package
// makes. No id of the network contains it; what starts with it is an id of
// ours.
const apart = "#"

// inboxApps are the app ids of messages that people write in the page's inbox.
var inboxApps = map[string]bool{"263902037430900": true, "26390203743090": true}

// open returns the message of an item; nil if it cannot be one, which is
// rejected.
func (r *reader) open(in *item, id string) *provider.Message {
	m := &provider.Message{
		ID: id, Chat: r.contact(in), From: provider.Contact{Address: person(in.sender)}, At: in.at, Standby: in.standby,
	}
	switch {
	case id == "":
		r.Reject("a message without an id", in.all)
	case m.Chat.ChatID == "":
		r.Reject("a message without a page-scoped id", in.all)
	default:
		return m
	}
	return nil
}

// message reads a message of the contact or, as an echo, of the page. A message
// with several files becomes several messages.
func (r *reader) message(in *item, v graph.Value) {
	id := v.Get("mid").ID()
	m := r.open(in, id)
	if m == nil {
		return
	}
	m.Mine = v.Get("is_echo").Flag()
	if m.Mine && v.Get("text") == nil && v.Get("attachments") == nil && !v.Get("is_deleted").Flag() {
		r.Report(r.itself("echo", in)) // it contains nothing but that there is a message
		return
	}
	if m.Mine {
		m.OwnID = v.Get("metadata").Text()
		if app := v.Get("app_id").ID(); !inboxApps[app] {
			m.App = app
		}
	}
	m.ReplyTo = v.Get("reply_to").Get("mid").ID()
	m.Referral = referred(v.Get("referral"))
	if v.Get("is_deleted").Flag() {
		m.ID, m.OwnID, m.Content = id+apart+"deleted", "", provider.Revoke{MessageID: id}
		r.Add(m.ID, m)
		return
	}
	for i, c := range contents(v) {
		part := *m
		part.Content = c
		if i > 0 {
			part.ID, part.OwnID, part.ReplyTo, part.Referral = nth(id, i), "", "", nil
		}
		r.Add(part.ID, &part)
	}
}

// edit reads the new text of a message.
func (r *reader) edit(in *item, v graph.Value) {
	id := v.Get("mid").ID()
	if id == "" {
		r.Reject("an edit without the id of a message", in.all)
		return
	}
	number := v.Get("num_edit").ID()
	if number == "" {
		number = r.made("edit", in)
	}
	if m := r.open(in, id+apart+"edit"+number); m != nil {
		m.Mine = in.sender == r.NetworkID
		m.Edits, m.Content = id, provider.Text{Text: v.Get("text").Text()}
		r.Add(m.ID, m)
	}
}

// emojis are the emojis of reactions that have only a name.
var emojis = map[string]string{
	"smile": "😆", "angry": "😠", "sad": "😢", "wow": "😮", "love": "❤", "like": "👍", "dislike": "👎", "other": "❔",
}

// reaction reads that a reaction was added to a message, or removed.
func (r *reader) reaction(in *item, v graph.Value) {
	m := r.open(in, apart+r.made("reaction", in))
	target := v.Get("mid").ID()
	switch {
	case m == nil:
		return
	case target == "":
		r.Reject("a reaction without the id of a message", in.all)
		return
	}
	c := provider.Reaction{MessageID: target}
	if v.Get("action").Text() != "unreact" {
		c.Emoji = v.Get("emoji").Text()
		if c.Emoji == "" {
			c.Emoji = emojis[v.Get("reaction").Text()]
		}
		if c.Emoji == "" {
			c.Emoji = emojis["other"]
		}
	}
	m.Mine = in.sender == r.NetworkID
	m.Content = c
	r.Add(m.ID, m)
}

// postback reads that a persistent button was pressed.
func (r *reader) postback(in *item, v graph.Value) {
	id := v.Get("mid").ID()
	if id == "" {
		id = apart + r.made("postback", in)
	}
	if m := r.open(in, id); m != nil {
		m.Referral = referred(v.Get("referral"))
		m.Content = provider.Reply{ID: v.Get("payload").ID(), Title: v.Get("title").Text(), To: provider.ReplyPostback}
		r.Add(m.ID, m)
	}
}
