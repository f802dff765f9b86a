package cloud

import (
	"encoding/json"
	"time"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// maxName limits the length of a chat's name.
const maxName = 256

// incoming is a message in the network's format.
type incoming struct {
	item                      graph.Value // the whole message
	id, kind                  string
	from, fromUser            string
	to, toUser                string // of an echo
	group                     string
	at                        time.Time
	context, referral, errors graph.Value
	mine                      bool
}

func readIncoming(item graph.Value) incoming {
	in := incoming{item: item}
	for name, raw := range jsonscan.Members(item) {
		v := graph.Value(raw)
		switch string(name) {
		case "id":
			in.id = v.ID()
		case "type":
			in.kind = v.Text()
		case "from":
			in.from = v.ID()
		case "from_user_id":
			in.fromUser = v.ID()
		case "to":
			in.to = v.ID()
		case "to_user_id":
			in.toUser = v.ID()
		case "group_id":
			in.group = v.ID()
		case "timestamp":
			in.at = v.Time()
		case "context":
			in.context = v
		case "referral":
			in.referral = v
		case "errors":
			in.errors = v
		}
	}
	if in.kind == "" && item.Get("text").Object() {
		in.kind = "text"
	}
	return in
}

func (r *reader) message(item graph.Value) {
	in := readIncoming(item)
	if in.kind == "system" && in.id != "" {
		r.system(&in)
		return
	}
	r.keep(r.open(&in))
}

// keep records a message, or why it is rejected.
func (r *reader) keep(m *provider.Message, bad *provider.Bad) {
	if bad != nil {
		r.Bad = append(r.Bad, *bad)
		return
	}
	r.Add(m.ID, m)
}

// open returns the message, or why it is rejected.
func (r *reader) open(in *incoming) (*provider.Message, *provider.Bad) {
	m := &provider.Message{
		ID: in.id, Mine: in.mine, At: in.at,
		ReplyTo:             in.context.Get("id").ID(),
		FrequentlyForwarded: in.context.Get("frequently_forwarded").Flag(),
		Referral:            in.referred(),
		Error:               failure(in.errors),
	}
	m.Forwarded = m.FrequentlyForwarded || in.context.Get("forwarded").Flag()
	m.From, m.Chat = r.parties(in)
	if why := in.fault(m); why != "" {
		return nil, &provider.Bad{Reason: why, Body: json.RawMessage(in.item)}
	}
	m.Content, m.Edits = in.content()
	return m, nil
}

// fault returns why a message cannot be stored, or "".
func (in *incoming) fault(m *provider.Message) string {
	switch {
	case in.id == "":
		return "a message without an id"
	case in.kind == "text" && !in.item.Get("text").Object():
		return "a text message without a text"
	case m.Chat.ChatID == "" && in.mine:
		return "a message of the account without a recipient"
	case m.Chat.ChatID == "":
		return "a message without a sender"
	case len(m.Chat.ChatID) > maxName || len(m.From.ChatID) > maxName:
		return "a message whose sender has too long a name"
	}
	return ""
}

// parties returns the sender and the chat.
func (r *reader) parties(in *incoming) (from provider.Contact, chat provider.Address) {
	if in.mine {
		from.Address, chat = person("", in.from), person(in.toUser, in.to)
	} else {
		from = r.people.sender(in.fromUser, in.from)
		chat = from.Address
	}
	if in.group != "" {
		chat = group(in.group)
	}
	return from, chat
}

// referred returns what led the contact to the chat: what was clicked, or the
// product that the message asks about.
func (in *incoming) referred() *provider.Referral {
	if v := in.referral; v.Object() {
		return &provider.Referral{
			Source: v.Get("source_type").Text(), SourceID: v.Get("source_id").ID(), ClickID: v.Get("ctwa_clid").ID(),
			URL: v.Get("source_url").Text(), Headline: v.Get("headline").Text(), Text: v.Get("body").Text(),
			Body: json.RawMessage(v),
		}
	}
	if v := in.context.Get("referred_product"); v.Object() {
		return &provider.Referral{Source: "product", SourceID: v.Get("product_retailer_id").ID(), Body: json.RawMessage(v)}
	}
	return nil
}
