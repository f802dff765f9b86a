package cloud

import (
	"encoding/json"
	"strings"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// maxName is the longest name of a chat that is believed.
const maxName = 256

type incoming struct {
	From       graph.ID        `json:"from"`
	FromUserID graph.ID        `json:"from_user_id"`
	GroupID    graph.ID        `json:"group_id"`
	ID         graph.ID        `json:"id"`
	At         graph.Time      `json:"timestamp"`
	Type       string          `json:"type"`
	Referral   json.RawMessage `json:"referral"`
	Text       *struct {
		Body string `json:"body"`
	} `json:"text"`
	Context struct {
		ID                  graph.ID `json:"id"`
		Forwarded           bool     `json:"forwarded"`
		FrequentlyForwarded bool     `json:"frequently_forwarded"`
	} `json:"context"`
	Unsupported struct {
		Type string `json:"type"`
	} `json:"unsupported"`
}

// later are the types that this version knows and leaves to another.
var later = map[string]bool{
	"image": true, "video": true, "document": true, "audio": true, "voice": true, "sticker": true,
	"location": true, "contacts": true, "interactive": true, "button": true, "reaction": true,
	"order": true, "system": true, "edit": true, "revoke": true, "request_welcome": true,
}

func (r *reader) message(item []byte) {
	// What is left for later may look as it likes: only its id counts.
	if kind := scalar(jsonscan.Get(item, "type")); later[kind] {
		if id := scalar(jsonscan.Get(item, "id")); id != "" {
			r.raw(id, kind, item)
			return
		}
	}
	var in incoming
	if err := json.Unmarshal(item, &in); err != nil {
		r.reject("a message that cannot be read: "+err.Error(), item)
		return
	}
	if in.Type == "" && in.Text != nil {
		in.Type = "text"
	}
	m, reason := in.event(r.contacts)
	if reason != "" {
		r.reject(reason, item)
		return
	}
	r.add(m.ID, m)
}

// event is the message, or the reason why it is none.
func (in *incoming) event(contacts []contact) (*provider.Message, string) {
	from := in.sender(contacts)
	switch {
	case in.ID == "":
		return nil, "a message without an id"
	case in.Type == "text" && in.Text == nil:
		return nil, "a text message without a text"
	case from.ChatID == "" && in.GroupID == "":
		return nil, "a message without a sender"
	case len(from.ChatID) > maxName || len(in.GroupID) > maxName:
		return nil, "a message whose sender has too long a name"
	}
	m := &provider.Message{
		ID:        string(in.ID),
		Chat:      from.Address,
		From:      from,
		At:        in.At.Time,
		Content:   in.content(),
		ReplyTo:   string(in.Context.ID),
		Forwarded: in.Context.Forwarded || in.Context.FrequentlyForwarded,
	}
	if in.GroupID != "" {
		m.Chat = group(string(in.GroupID))
	}
	if jsonscan.Kind(in.Referral) == '{' {
		m.Referral = in.Referral
	}
	return m, ""
}

func (in *incoming) content() provider.Content {
	switch in.Type {
	case "text":
		return provider.Text{Text: in.Text.Body}
	case "unsupported":
		return provider.Unknown{Kind: in.Unsupported.Type}
	default:
		return provider.Unknown{Kind: in.Type}
	}
}

// sender names who wrote, with what the contacts add.
func (in *incoming) sender(contacts []contact) provider.Contact {
	c := in.contact(contacts)
	if c == nil {
		return provider.Contact{Address: person(string(in.FromUserID), string(in.From))}
	}
	return provider.Contact{
		Address:  person(first(string(in.FromUserID), string(c.UserID)), string(in.From), string(c.WaID)),
		Name:     c.Profile.Name,
		Username: strings.TrimPrefix(c.Profile.Username, "@"),
	}
}

// contact finds the sender among the contacts. The only one is meant even
// under another number: the network writes some numbers in two ways.
func (in *incoming) contact(contacts []contact) *contact {
	for i := range contacts {
		c := &contacts[i]
		if in.From != "" && (c.WaID == in.From || c.UserID == in.From) || in.FromUserID != "" && c.UserID == in.FromUserID {
			return c
		}
	}
	if len(contacts) == 1 && (in.FromUserID == "" || contacts[0].UserID == "") {
		return &contacts[0]
	}
	return nil
}

type contact struct {
	WaID    graph.ID `json:"wa_id"`
	UserID  graph.ID `json:"user_id"`
	Profile struct {
		Name     string `json:"name"`
		Username string `json:"username"`
	} `json:"profile"`
}

// readContacts reads what it can: a contact says who wrote, not what, so one
// that is broken costs a name and no message.
func readContacts(array []byte) []contact {
	var contacts []contact
	for item := range jsonscan.Elements(array) {
		var c contact
		_ = json.Unmarshal(item, &c)
		contacts = append(contacts, c)
	}
	return contacts
}
