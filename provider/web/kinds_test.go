package web_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

const card = "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Silva;Ben;;;\r\nFN:Ben Silva\r\nORG:Acme\\, Inc.;Sales\r\n" +
	"item1.TEL;type=CELL;waid=4930123:+49 30 123\r\nEMAIL;type=WORK:ben@example.org\r\nEND:VCARD\r\n"

// kinds is one message of each kind that a phone can send, with what it is.
var kinds = map[string]struct {
	in   *waE2E.Message
	want provider.Content
}{
	"link": {
		&waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("see https://example.org")}},
		provider.Text{Text: "see https://example.org"},
	},
	"disappearing": {
		&waE2E.Message{EphemeralMessage: &waE2E.FutureProofMessage{Message: textMessage("soon gone")}},
		provider.Text{Text: "soon gone"},
	},
	"once": {
		&waE2E.Message{ViewOnceMessageV2: &waE2E.FutureProofMessage{Message: &waE2E.Message{
			ImageMessage: &waE2E.ImageMessage{Mimetype: proto.String("image/png"), Caption: proto.String("once"), ViewOnce: proto.Bool(true)},
		}}},
		provider.Media{Kind: provider.Image, Caption: "once", File: provider.File{MIME: "image/png"}},
	},
	"document with caption": {
		&waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{
			DocumentMessage: &waE2E.DocumentMessage{Mimetype: proto.String("application/pdf"), Caption: proto.String("Sign it")},
		}}},
		provider.Media{Kind: provider.Document, Caption: "Sign it", File: provider.File{MIME: "application/pdf"}},
	},
	"video note": {
		&waE2E.Message{PtvMessage: &waE2E.VideoMessage{Mimetype: proto.String("video/mp4"), Seconds: proto.Uint32(4)}},
		provider.Media{Kind: provider.Video, File: provider.File{MIME: "video/mp4", Seconds: 4}},
	},
	"place": {
		&waE2E.Message{LocationMessage: &waE2E.LocationMessage{
			DegreesLatitude: proto.Float64(52.52), DegreesLongitude: proto.Float64(13.4), Name: proto.String("Berlin"), Address: proto.String("Mitte"),
		}},
		provider.Location{Latitude: 52.52, Longitude: 13.4, Name: "Berlin", Address: "Mitte"},
	},
	"live place": {
		&waE2E.Message{LiveLocationMessage: &waE2E.LiveLocationMessage{DegreesLatitude: proto.Float64(1), DegreesLongitude: proto.Float64(2)}},
		provider.Location{Latitude: 1, Longitude: 2},
	},
	"card": {
		&waE2E.Message{ContactMessage: &waE2E.ContactMessage{DisplayName: proto.String("Ben Silva"), Vcard: proto.String(card)}},
		provider.Contacts{Contacts: []provider.Card{ben}},
	},
	"cards": {
		&waE2E.Message{ContactsArrayMessage: &waE2E.ContactsArrayMessage{Contacts: []*waE2E.ContactMessage{
			{DisplayName: proto.String("Ben Silva"), Vcard: proto.String(card)}, {DisplayName: proto.String("Eve")},
		}}},
		provider.Contacts{Contacts: []provider.Card{ben, {Name: provider.CardName{Formatted: "Eve"}}}},
	},
	"poll": {
		&waE2E.Message{PollCreationMessageV3: &waE2E.PollCreationMessage{
			Name: proto.String("Lunch?"), SelectableOptionsCount: proto.Uint32(1),
			Options: []*waE2E.PollCreationMessage_Option{{OptionName: proto.String("soup")}, {OptionName: proto.String("salad")}},
		}},
		provider.Poll{Question: "Lunch?", Options: []string{"soup", "salad"}},
	},
	"poll with many answers": {
		&waE2E.Message{PollCreationMessage: &waE2E.PollCreationMessage{
			Name: proto.String("When?"), Options: []*waE2E.PollCreationMessage_Option{{OptionName: proto.String("now")}},
		}},
		provider.Poll{Question: "When?", Options: []string{"now"}, Multiple: true},
	},
	"poll in a poll": {
		&waE2E.Message{PollCreationMessageV4: &waE2E.FutureProofMessage{Message: &waE2E.Message{PollCreationMessage: &waE2E.PollCreationMessage{
			Name: proto.String("Who?"), SelectableOptionsCount: proto.Uint32(1), Options: []*waE2E.PollCreationMessage_Option{{OptionName: proto.String("me")}},
		}}}},
		provider.Poll{Question: "Who?", Options: []string{"me"}},
	},
	"button": {
		&waE2E.Message{ButtonsResponseMessage: &waE2E.ButtonsResponseMessage{
			SelectedButtonID: proto.String("yes"), Response: &waE2E.ButtonsResponseMessage_SelectedDisplayText{SelectedDisplayText: "Yes"},
		}},
		provider.Reply{ID: "yes", Title: "Yes", To: provider.ReplyButton},
	},
	"row": {
		&waE2E.Message{ListResponseMessage: &waE2E.ListResponseMessage{
			Title: proto.String("Large"), Description: proto.String("30 cm"),
			SingleSelectReply: &waE2E.ListResponseMessage_SingleSelectReply{SelectedRowID: proto.String("L")},
		}},
		provider.Reply{ID: "L", Title: "Large", Description: "30 cm", To: provider.ReplyRow},
	},
	"template button": {
		&waE2E.Message{TemplateButtonReplyMessage: &waE2E.TemplateButtonReplyMessage{
			SelectedID: proto.String("stop"), SelectedDisplayText: proto.String("Stop"),
		}},
		provider.Reply{ID: "stop", Title: "Stop", To: provider.ReplyTemplate},
	},
	"question": {
		&waE2E.Message{ListMessage: &waE2E.ListMessage{Description: proto.String("Which size?")}},
		provider.Text{Text: "Which size?"},
	},
	"event": {
		&waE2E.Message{EventMessage: &waE2E.EventMessage{Name: proto.String("Party")}},
		provider.Unknown{Kind: "event"},
	},
}

var ben = provider.Card{
	Name:   provider.CardName{Formatted: "Ben Silva"},
	Phones: []provider.CardPhone{{Phone: "+49 30 123", WaID: "4930123", Type: "CELL"}},
	Emails: []provider.CardEmail{{Email: "ben@example.org", Type: "WORK"}},
	Org:    &provider.CardOrg{Company: "Acme, Inc.", Department: "Sales"},
	VCard:  card,
}

// TestKinds receives a message of each kind.
func TestKinds(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		for name, k := range kinds {
			require.Equal(t, k.want, f.says(t, ana, k.in).Content, name)
		}
	})
}

// TestSaidAbout is what a message says of others: what it answers, that it was
// passed on, whom it names, the advertisement that led here.
func TestSaidAbout(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana, eve := paired(t, db), fake.AddPhone(nil), fake.AddPhone(nil)
		f.says(t, eve, textMessage("so that she is known"))
		about := func(c *waE2E.ContextInfo) *provider.Message {
			return f.says(t, ana, &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("x"), ContextInfo: c}})
		}
		require.Equal(t, "QUOTED", about(&waE2E.ContextInfo{StanzaID: proto.String("QUOTED")}).ReplyTo)
		m := about(&waE2E.ContextInfo{IsForwarded: proto.Bool(true), ForwardingScore: proto.Uint32(1)})
		require.True(t, m.Forwarded)
		require.False(t, m.FrequentlyForwarded)
		require.True(t, about(&waE2E.ContextInfo{IsForwarded: proto.Bool(true), ForwardingScore: proto.Uint32(5)}).FrequentlyForwarded)
		m = about(&waE2E.ContextInfo{MentionedJID: []string{eve.LID().String(), "49301234567@s.whatsapp.net", "nonsense"}})
		require.Equal(t, []string{eve.JID().User + "@s.whatsapp.net", "49301234567@s.whatsapp.net", "nonsense"}, m.Content.(provider.Text).Mentions)
		m = about(&waE2E.ContextInfo{ExternalAdReply: &waE2E.ContextInfo_ExternalAdReplyInfo{
			SourceURL: proto.String("https://fb.me/1"), SourceType: proto.String("ad"), SourceID: proto.String("77"), Title: proto.String("Sale"),
		}})
		require.Equal(t, &provider.Referral{Source: "ad", SourceID: "77", URL: "https://fb.me/1", Headline: "Sale"}, m.Referral)

		id := f.p.NewMessageID()
		_, err := f.session.Send(soon(t), provider.Outbound{ID: id, To: m.Chat, ReplyTo: m.ID, Content: provider.Text{Text: "Yes?"}})
		require.NoError(t, err)
		got, err := ana.AwaitText(soon(t), "Yes?")
		require.NoError(t, err)
		quoted := got.Content.GetExtendedTextMessage().GetContextInfo()
		require.Equal(t, m.ID, quoted.GetStanzaID())
		require.Contains(t, []string{ana.JID().String(), ana.LID().String()}, quoted.GetParticipant())
	})
}

// TestChanges are reactions, edits and deletions, both ways.
func TestChanges(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		first := f.says(t, ana, textMessage("helo"))
		key := &waCommon.MessageKey{RemoteJID: proto.String(f.owner.LID().String()), FromMe: proto.Bool(true), ID: &first.ID}
		m := f.says(t, ana, &waE2E.Message{ReactionMessage: &waE2E.ReactionMessage{Key: key, Text: proto.String("👍")}})
		require.Equal(t, provider.Reaction{MessageID: first.ID, Emoji: "👍"}, m.Content)
		m = f.says(t, ana, &waE2E.Message{EditedMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{
			ProtocolMessage: &waE2E.ProtocolMessage{
				Key: key, Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), EditedMessage: textMessage("hello"),
			},
		}}})
		require.Equal(t, provider.Text{Text: "hello"}, m.Content)
		require.Equal(t, first.ID, m.Edits)
		m = f.says(t, ana, &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Key: key, Type: waE2E.ProtocolMessage_REVOKE.Enum()}})
		require.Equal(t, provider.Revoke{MessageID: first.ID}, m.Content)

		reaction := f.answers(t, first.Chat, ana, provider.Reaction{MessageID: first.ID, Emoji: "❤"}).Content.GetReactionMessage()
		require.Equal(t, "❤", reaction.GetText())
		require.Equal(t, first.ID, reaction.GetKey().GetID())
		require.False(t, reaction.GetKey().GetFromMe())
		own := f.send(t, first.Chat, provider.Text{Text: "Hi An"})
		edit := f.answers(t, first.Chat, ana, provider.Edit{MessageID: own, Text: "Hi Ana"}).Content.GetEditedMessage().GetMessage().GetProtocolMessage()
		require.Equal(t, own, edit.GetKey().GetID())
		require.Equal(t, "Hi Ana", edit.GetEditedMessage().GetConversation())
		revoke := f.answers(t, first.Chat, ana, provider.Revoke{MessageID: own}).Content.GetProtocolMessage()
		require.Equal(t, waE2E.ProtocolMessage_REVOKE, revoke.GetType())
		require.Equal(t, own, revoke.GetKey().GetID())
		require.True(t, revoke.GetKey().GetFromMe())
	})
}

// TestPlacesAndCards are sent as phones read them.
func TestPlacesAndCards(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		to := f.number(t, ana)
		place := f.answers(t, to, ana, provider.Location{Latitude: 52.52, Longitude: 13.4, Name: "Berlin"}).Content.GetLocationMessage()
		require.InDelta(t, 52.52, place.GetDegreesLatitude(), 0)
		require.Equal(t, "Berlin", place.GetName())
		sent := ben
		sent.VCard = ""
		sent.Phones = []provider.CardPhone{{Phone: "+49 30 123", WaID: "4930123", Type: "CELL\r\nX-EVIL:1"}}
		one := f.answers(t, to, ana, provider.Contacts{Contacts: []provider.Card{sent}}).Content.GetContactMessage()
		require.Contains(t, one.GetVcard(), "TEL;type=CELLXEVIL1;waid=4930123:+49 30 123\r\n", "nothing breaks out of a line")
		require.Contains(t, one.GetVcard(), `ORG:Acme\, Inc.;Sales`)
		two := f.answers(t, to, ana, provider.Contacts{Contacts: []provider.Card{sent, sent}}).Content.GetContactsArrayMessage()
		require.Len(t, two.GetContacts(), 2)
	})
}

// TestUnseen is what devices tell each other: it is acknowledged, and nobody
// sees it.
func TestUnseen(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		ids := []string{}
		for _, m := range []*waE2E.Message{
			{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_EPHEMERAL_SETTING.Enum()}},
			{ProtocolMessage: &waE2E.ProtocolMessage{}},
			{KeepInChatMessage: &waE2E.KeepInChatMessage{}},
			{},
		} {
			id, err := ana.Send(soon(t), webtest.Outgoing{To: f.owner.LID(), Message: m})
			require.NoError(t, err)
			require.NoError(t, f.device.AwaitAck(soon(t), id))
			ids = append(ids, id)
		}
		f.says(t, ana, textMessage("after them"))
		for _, id := range ids {
			require.Zero(t, f.inbox.count(id))
		}
	})
}

// TestDamagedSeals has messages about another one whose nonce has a wrong
// length, with which the cipher panics.
func TestDamagedSeals(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		first := textMessage("first")
		first.MessageContextInfo = &waE2E.MessageContextInfo{MessageSecret: []byte("12345678901234567890123456789012")}
		key := &waCommon.MessageKey{
			RemoteJID: proto.String(ana.LID().String()), FromMe: proto.Bool(true), ID: proto.String(f.says(t, ana, first).ID),
		}
		for name, m := range map[string]*waE2E.Message{
			"reaction": {EncReactionMessage: &waE2E.EncReactionMessage{TargetMessageKey: key, EncPayload: []byte("x"), EncIV: []byte("short")}},
			"edit": {SecretEncryptedMessage: &waE2E.SecretEncryptedMessage{
				TargetMessageKey: key, EncPayload: []byte("x"), EncIV: []byte("short"), SecretEncType: waE2E.SecretEncryptedMessage_EVENT_EDIT.Enum(),
			}},
		} {
			require.Equal(t, provider.Unknown{Kind: provider.Undecryptable}, f.says(t, ana, m).Content, name)
		}
	})
}
