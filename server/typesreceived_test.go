package server_test

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

type wire = map[string]any

// typeReceived is a message that arrives.
type typeReceived struct {
	name  string
	in    graphtest.Inbound
	file  string // that comes with it, whose id is added to the body
	mine  bool   // it was written in the app on the account's phone
	group bool
	read  bool // it is read here afterwards
}

var typesReceived = []typeReceived{
	{name: "text", in: graphtest.Inbound{Text: "Hello, shop <3 & 👋"}},
	{name: "text that is read", in: graphtest.Inbound{Text: "Hello"}, read: true},
	{name: "reply", in: graphtest.Inbound{Text: "Yes", ReplyTo: "wamid.quoted"}},
	{name: "forwarded", in: graphtest.Inbound{Text: "News", Forwarded: true}},
	{name: "image", in: graphtest.Inbound{Type: "image", Body: wire{"mime_type": "image/png", "caption": "A cat"}}, file: "cat.png"},
	{name: "video", in: graphtest.Inbound{Type: "video", Body: wire{"mime_type": "video/mp4", "caption": "Look"}}, file: "clip.mp4"},
	{name: "audio", in: graphtest.Inbound{Type: "audio", Body: wire{"mime_type": "audio/mpeg"}}, file: "song.mp3"},
	{name: "voice note", in: graphtest.Inbound{Type: "audio", Body: wire{"mime_type": "audio/ogg; codecs=opus", "voice": true}}, file: "voice.ogg"},
	{name: "document", in: graphtest.Inbound{Type: "document", Body: wire{"mime_type": "application/pdf", "filename": "Offer 7.pdf", "caption": "Our offer"}}, file: "offer.pdf"},
	{name: "sticker", in: graphtest.Inbound{Type: "sticker", Body: wire{"mime_type": "image/webp", "animated": false}}, file: "sticker.webp"},
	{name: "image that is another", in: graphtest.Inbound{Type: "image", Body: wire{"mime_type": "image/png"}}, file: "offer.pdf"},
	{name: "video that is lost", in: graphtest.Inbound{Type: "video", Errors: []any{wire{"code": 131052, "title": "Media download error"}}}},
	{name: "location", in: graphtest.Inbound{Type: "location", Body: wire{"latitude": 50.73, "longitude": 7.1, "name": "The shop", "address": "Market 1, Bonn"}}},
	{name: "contacts", in: graphtest.Inbound{Type: "contacts", Body: []any{wire{
		"name": wire{"formatted_name": "Eva Roth", "first_name": "Eva"}, "phones": []any{wire{"phone": "+49 228 555", "type": "WORK", "wa_id": "49228555"}},
	}}}},
	{name: "reaction", in: graphtest.Inbound{Type: "reaction", Body: wire{"message_id": "wamid.quoted", "emoji": "👍"}}},
	{name: "reaction removed", in: graphtest.Inbound{Type: "reaction", Body: wire{"message_id": "wamid.quoted", "emoji": ""}}},
	{name: "button", in: graphtest.Inbound{Type: "interactive", ReplyTo: "wamid.quoted", Body: wire{"type": "button_reply", "button_reply": wire{"id": "y", "title": "Yes"}}}},
	{name: "row", in: graphtest.Inbound{Type: "interactive", ReplyTo: "wamid.quoted", Body: wire{"type": "list_reply", "list_reply": wire{"id": "mon", "title": "Monday", "description": "At nine"}}}},
	{name: "flow", in: graphtest.Inbound{Type: "interactive", ReplyTo: "wamid.quoted", Body: wire{"type": "nfm_reply", "nfm_reply": wire{"name": "flow", "body": "Sent", "response_json": `{"day":"mon","flow_token":"t"}`}}}},
	{name: "call permission", in: graphtest.Inbound{Type: "interactive", Body: wire{"type": "call_permission_reply", "call_permission_reply": wire{"response": "accept"}}}},
	{name: "template button", in: graphtest.Inbound{Type: "button", ReplyTo: "wamid.quoted", Body: wire{"text": "Good", "payload": "good"}}},
	{name: "order", in: graphtest.Inbound{Type: "order", Body: wire{"catalog_id": "1", "text": "Please", "product_items": []any{wire{"product_retailer_id": "p7", "quantity": 2, "item_price": 12.5, "currency": "EUR"}}}}},
	{name: "referral", in: graphtest.Inbound{Text: "More, please", Referral: wire{"source_type": "ad", "source_id": "12", "source_url": "https://fb.me/x", "headline": "Shop"}}},
	{name: "edit", in: graphtest.Inbound{Type: "edit", Body: wire{"original_message_id": "wamid.quoted", "message": wire{"type": "text", "text": wire{"body": "I meant Monday"}}}}},
	{name: "revoke", in: graphtest.Inbound{Type: "revoke", Body: wire{"original_message_id": "wamid.quoted"}}},
	{name: "unsupported", in: graphtest.Inbound{Type: "unsupported", Body: wire{"type": "poll_creation"}, Errors: []any{wire{"code": 131051, "title": "Message type unknown"}}}},
	{name: "unknown", in: graphtest.Inbound{Type: "hologram", Body: wire{"id": "1"}}},
	{name: "text in a group", in: graphtest.Inbound{Text: "Hello all"}, group: true},
	{name: "text from the phone", in: graphtest.Inbound{Text: "On my way"}, mine: true},
	{name: "image from the phone", in: graphtest.Inbound{Type: "image", Body: wire{"mime_type": "image/png", "caption": "A cat"}}, file: "cat.png", mine: true},
}

// TestTypesReceived lets each type of message arrive. What comes of it as
// webhooks, and the record, are those on file.
func TestTypesReceived(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		w := startTypes(t, db)
		all := make([]*receiving, len(typesReceived))
		for i, c := range typesReceived {
			all[i] = w.receive(t, c, number(i))
		}
		for _, r := range all {
			t.Run(r.name, func(t *testing.T) {
				hooks := w.hooks(t, r.jid, r.webhooks)
				_, list := w.request(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s", w.ref, r.chat), "")
				golden(t, "received/"+r.name, wire{"webhooks": hooks, "records": list["items"]}, r.names)
			})
		}
	})
}

// receiving is a case under way.
type receiving struct {
	typeReceived
	chat, jid string
	webhooks  int
	names     map[string]string // of what is new in every run
}

// receive lets a contact, or the account's phone, write.
func (w *typesWorld) receive(t *testing.T, c typeReceived, contact string) *receiving {
	t.Helper()
	r := &receiving{typeReceived: c, chat: contact, jid: contact + "::single", webhooks: 1, names: map[string]string{contact: "<contact>"}}
	in := c.in
	in.From, in.Name = contact, "Ana"
	if c.group {
		in.Group = "group-" + contact
		r.chat, r.jid = in.Group+"@g.us", in.Group+"::group"
	}
	if c.file != "" {
		body := wire{"id": w.net.Files.Put("", c.in.Body.(wire)["mime_type"].(string), w.file(t, c.file))}
		for name, value := range c.in.Body.(wire) {
			body[name] = value
		}
		in.Body = body
	}
	write := w.net.Write
	if c.mine {
		write = w.net.Echo
	}
	id, err := write(t.Context(), in)
	require.NoError(t, err)
	r.names[id] = "<message>"
	if c.read {
		r.webhooks++
		status, _ := w.request(t, "POST", "/chats/read", fmt.Sprintf(`{"reference":%d,"chatId":%q}`, w.ref, contact))
		require.Equal(t, 200, status)
	}
	return r
}
