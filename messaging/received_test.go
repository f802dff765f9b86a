package messaging_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// file is a message of a contact whose file the network could not have.
func file(kind provider.MediaKind, f provider.File, change ...func(*provider.Media)) provider.Content {
	m := provider.Media{Kind: kind, File: f}
	for _, fn := range change {
		fn(&m)
	}
	return m
}

var receivedText = []struct {
	name    string
	content provider.Content
	change  func(*provider.Message)
}{
	{name: "image", content: file(provider.Image, provider.File{MIME: "image/jpeg", Size: 1200, Width: 8, Height: 6, Thumbnail: []byte{1, 2}}, func(m *provider.Media) {
		m.Caption = "Look <here>"
	})},
	{name: "sticker", content: file(provider.Sticker, provider.File{MIME: "image/webp", Animated: true})},
	{name: "video", content: file(provider.Video, provider.File{MIME: "video/mp4", Size: 9007199254740993, Seconds: 12})},
	{name: "voice", content: file(provider.Audio, provider.File{MIME: "audio/ogg; codecs=opus", Seconds: 3, Waveform: []byte{0, 50, 100}}, func(m *provider.Media) { m.Voice = true })},
	{name: "document", content: file(provider.Document, provider.File{MIME: "application/pdf", Title: "Prices", Pages: 3}, func(m *provider.Media) { m.FileName = "prices.pdf" })},
	{name: "contact-card", content: provider.Contacts{Contacts: []provider.Card{{
		Name: provider.CardName{Formatted: "Ana Lima", First: "Ana"}, Phones: []provider.CardPhone{{Phone: "+1 650 555 1234", WaID: "16505551234"}},
	}}}},
	{name: "contact-cards", content: provider.Contacts{Contacts: []provider.Card{
		{Name: provider.CardName{Formatted: "Ana Lima"}}, {Name: provider.CardName{First: "Bob", Last: "Ray"}}, {Phones: []provider.CardPhone{{Phone: "+1 212 555 0000"}}},
	}}},
	{name: "order", content: provider.Order{CatalogID: "7", Text: "Quickly please", Items: []provider.OrderItem{
		{ProductID: "p1", Quantity: "2", Price: "30.10", Currency: "EUR"}, {ProductID: "p2", Quantity: "1", Price: "5", Currency: "EUR"},
	}}},
	{name: "form", content: provider.Form{Name: "flow", Text: "Sent", Data: `{"b":1.0,"a":[12345678901234567890]}`}},
	{name: "form-text", content: provider.Form{Name: "flow", Data: "no \x00JSON"}},
	{name: "permission", content: provider.Reply{ID: "accept", To: provider.ReplyPermission}},
	{name: "opened", content: provider.Opened{}, change: func(m *provider.Message) {
		m.Referral = &provider.Referral{Source: "ad", Body: json.RawMessage(`{"source_type":"ad","source_id":"1"}`)}
	}},
	{name: "edited", content: provider.Text{Text: "better"}, change: func(m *provider.Message) { m.Edits = "m0" }},
	{name: "edited-image", content: file(provider.Image, provider.File{MIME: "image/jpeg"}, func(m *provider.Media) { m.Caption = "better" }), change: func(m *provider.Message) { m.Edits = "m0" }},
	{name: "revoked", content: provider.Revoke{MessageID: "m0"}},
	{name: "reaction-removed", content: provider.Reaction{MessageID: "m0"}},
	{name: "placeholder", content: provider.Media{Kind: provider.Placeholder}},
	{name: "forwarded", content: provider.Text{Text: "a joke"}, change: func(m *provider.Message) { m.Forwarded, m.FrequentlyForwarded = true, true }},
	{name: "withheld", content: provider.Unknown{}, change: func(m *provider.Message) { m.Error = &provider.Failure{Code: "131051", Message: "Not supported"} }},
}

// TestPayloadOfEachKind compares the payload of every kind of message that a
// reference receives with a golden file. All are of the five types.
func TestPayloadOfEachKind(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		for i, c := range receivedText {
			f.receive(t, ref, text(fmt.Sprintf("m%d", i), "16505551234", "", func(m *provider.Message) {
				m.Content = c.content
				if media, is := c.content.(provider.Media); is && media.Kind != provider.Placeholder {
					m.Error = &provider.Failure{Code: "131052", Message: "Media download error"}
				}
				if c.change != nil {
					c.change(m)
				}
			}))
			evs := f.sink.all(t)
			require.Len(t, evs, i+1)
			golden(t, "received-"+c.name+".json", evs[i].Payload)
			var p messaging.MessagePayload
			require.NoError(t, json.Unmarshal(evs[i].Payload, &p))
			require.Contains(t, payloadTypes, p.Type)
			require.Equal(t, p.Text, f.message(t, ref, "16505551234", p.ID).Text, "the record says the same")
		}
	})
}

// TestEditsAndRevokesKeepTheOriginal: both are messages of their own.
func TestEditsAndRevokesKeepTheOriginal(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "helo"), text("m2", "111", "hello", func(m *provider.Message) { m.Edits = "m1" }))
		f.receive(t, ref, text("m3", "111", "", func(m *provider.Message) { m.Content = provider.Revoke{MessageID: "m1"} }))
		require.Equal(t, "helo", f.message(t, ref, "111", "m1").Text)
		require.Equal(t, &messaging.MessageRef{MessageID: "m1"}, f.message(t, ref, "111", "m2").Edited)
		require.Equal(t, &messaging.MessageRef{MessageID: "m1"}, f.message(t, ref, "111", "m3").Revoked)
		require.Len(t, f.sink.all(t), 3)
	})
}

// TestStatusBeforeItsEcho: what a status said of a message of the phone is not
// lost, however much later the message comes; in one callback the message is
// told first.
func TestStatusBeforeItsEcho(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		mine := func(m *provider.Message) { m.Mine = true }
		window := status("e1", provider.StatusDelivered)
		window.WindowUntil = epoch.Add(72 * time.Hour)
		f.receive(t, ref, status("e1", provider.StatusRead), window)
		f.clock.Advance(time.Hour)
		f.receive(t, ref, text("e1", "111", "from the phone", mine))
		require.Equal(t, []string{"message:SENDING", "status:DELIVERED", "status:READ"}, f.sink.of(t, "e1"))
		require.Equal(t, epoch.Add(72*time.Hour), f.chat(t, ref, "111").WindowExpiresAt.Time)

		f.receive(t, ref, status("e2", provider.StatusRead), text("e2", "111", "again", mine), status("e2", provider.StatusDelivered))
		require.Equal(t, []string{"message:SENDING", "status:DELIVERED", "status:READ"}, f.sink.of(t, "e2"))
		require.Equal(t, messaging.ActorPhone, f.message(t, ref, "111", "e2").Actor)
		require.NotNil(t, f.chat(t, ref, "111").Handoff, "a person writes")
	})
}

// TestStatusNamesTheChat: a status may call the chat by another name.
func TestStatusNamesTheChat(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("e1", "551188887777", "hi", func(m *provider.Message) { m.Mine = true }), text("m1", "", "oi", from("", "u.1")))
		s := status("e1", provider.StatusDelivered)
		s.To = provider.Address{ChatID: "5511988887777", Phone: "5511988887777", UserID: "u.1"}
		f.receive(t, ref, s)
		for _, id := range []string{"551188887777", "5511988887777", "u.1"} {
			require.Len(t, f.messages(t, ref, id), 2, id)
		}
	})
}
