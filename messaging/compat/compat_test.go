package compat_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/compat"
	"github.com/trunklinehq/trunkline/provider"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	person = "16505551234@s.whatsapp.net"
	group  = "120363025246125486@g.us"
)

// happened is a named event, as the server tells of it.
type happened struct {
	name    string
	chat    string // "": person
	kind    messaging.EventType
	payload any
	actor   messaging.Actor
	qr      *messaging.QR
}

func (h *happened) event(t testing.TB) compat.Event {
	raw, err := json.Marshal(h.payload)
	require.NoError(t, err)
	ev := compat.Event{
		ID: "01957f2a-5a36-7c3e-9f0e-0d5b8f1c2a44", Type: string(h.kind), ChatID: h.chat, At: epoch.Add(1500 * time.Millisecond), Payload: raw,
		URL: "https://example.org/in", Actor: h.actor, QR: h.qr,
		Reference: compat.Reference{ID: "7", Name: "sales", Self: "16505550100@s.whatsapp.net", Profile: "Our shop", BaseURL: "https://chat.example.com"},
	}
	if ev.ChatID == "" && (h.kind == messaging.EventMessage || h.kind == messaging.EventStatus || h.kind == messaging.EventCalls) {
		ev.ChatID = person
	}
	return ev
}

func head(mine bool, status string) messaging.Head {
	return messaging.Head{
		Reference: 7, Ref: 7, RemoteJID: "16505551234::single", ChatID: person, Mine: mine, ID: "3EB0C767D26A1D8C", PushName: "Ana",
		MessageTimestamp: messaging.UnixTime{Time: epoch}, Status: status,
	}
}

func came(b messaging.Body) messaging.MessagePayload {
	return messaging.MessagePayload{Head: head(false, "DELIVERED"), Body: b}
}

func sent(b messaging.Body) messaging.MessagePayload {
	return messaging.MessagePayload{Head: head(true, "SENDING"), Body: b}
}

func inGroup(p messaging.MessagePayload) messaging.MessagePayload {
	p.RemoteJID, p.ChatID = "120363025246125486::group", group
	return p
}

func extras(text string, e messaging.Extras) messaging.Body {
	return messaging.Body{Text: text, Extras: e}
}

var (
	photo = messaging.Attachment{
		MimeType: "image/jpeg", FileLength: 48213, Height: 960, Width: 1280, JPEGThumbnail: "/9j/2Q==", Caption: "Our <shop> & more", FileURL: "files/a/b/photo.jpg",
	}
	ballot = messaging.Poll{Question: "Which?", Options: []string{"A", "B"}}
	card   = provider.Card{
		Name: provider.CardName{Formatted: "Ana Silva", First: "Ana", Last: "Silva"}, Org: &provider.CardOrg{Company: "Ana; Ltd"},
		Phones: []provider.CardPhone{{Phone: "+1 650 555 1234", WaID: "16505551234"}}, Emails: []provider.CardEmail{{Email: "ana@example.org"}},
	}
)

// messages are all kinds that there are.
func messages() []happened {
	text := messaging.Body{Text: "Hello"}
	member := &messaging.Participant{RemoteJID: "16505559876::single", ChatID: "16505559876@s.whatsapp.net", PushName: "Bob"}
	stranger := &messaging.Participant{RemoteJID: "175105850253361::single", ChatID: "175105850253361@lid", PushName: "Eve"}
	failed := sent(text)
	failed.Status = "FAIL"
	missing := came(messaging.Body{Type: "image", Attachment: messaging.Attachment{MimeType: "image/jpeg"}})
	missing.Error = &messaging.Failure{Code: "media_pending", Message: "The file was not fetched in time."}
	out := []happened{
		{name: "text", payload: came(text)},
		{name: "text of ours", payload: sent(text), actor: messaging.ActorAPI},
		{name: "text from the phone", payload: sent(text), actor: messaging.ActorPhone},
		{name: "text that failed", payload: failed, actor: messaging.ActorBot},
		{name: "text that answers", payload: came(extras("Yes", messaging.Extras{Context: &messaging.Quote{MessageID: "3EB0AA"}}))},
		{name: "text in a group", chat: group, payload: inGroup(came(extras("Hi all", messaging.Extras{Participant: member})))},
		{name: "text in a group, hidden", chat: group, payload: inGroup(came(extras("Hi all", messaging.Extras{Participant: stranger})))},
		{name: "text of ours in a group", chat: group, payload: inGroup(sent(text)), actor: messaging.ActorUser},
		{name: "image", payload: came(messaging.Body{Type: "image", Attachment: photo})},
		{name: "image that answers", payload: came(messaging.Body{
			Type: "image", Attachment: photo, Extras: messaging.Extras{Context: &messaging.Quote{MessageID: "3EB0AA", Forwarded: true}},
		})},
		{name: "video", payload: came(messaging.Body{Type: "video", Attachment: messaging.Attachment{
			MimeType: "video/mp4", FileLength: 5 << 30, Seconds: 12, Height: 720, Width: 1280, FileURL: "files/a/b/film.mp4",
		}})},
		{name: "document", payload: came(messaging.Body{Type: "document", Attachment: messaging.Attachment{
			MimeType: "application/pdf", Title: "Prices", FileLength: 91532, PageCount: 3, FileName: "prices.pdf", Caption: "Here", FileURL: "files/a/b/prices.pdf",
		}})},
		{name: "audio", payload: came(messaging.Body{Type: "audio", Attachment: messaging.Attachment{
			MimeType: "audio/mpeg", FileLength: 9417, Seconds: 4, FileURL: "files/a/b/song.mp3",
		}})},
		{name: "voice", payload: came(messaging.Body{Type: "audio", Attachment: messaging.Attachment{
			MimeType: "audio/ogg; codecs=opus", FileLength: 9417, Seconds: 4, Waveform: "AAECAwQ=", FileURL: "files/a/b/voice.ogg",
		}})},
		{name: "sticker", payload: came(messaging.Body{
			Type: "image", Attachment: messaging.Attachment{MimeType: "image/webp", FileLength: 4100, FileURL: "files/a/b/s.webp"}, Extras: messaging.Extras{Sticker: true},
		})},
		{name: "file that could not be had", payload: missing},
		{name: "location", payload: came(extras("Paris, 48.85837, 2.294481", messaging.Extras{
			Location: &provider.Location{Latitude: 48.85837, Longitude: 2.294481, Name: "Paris", Address: "Champ de Mars"},
		}))},
		{name: "contact", payload: came(extras("Ana Silva", messaging.Extras{Contacts: []provider.Card{card}}))},
		{name: "contacts", payload: came(extras("Ana Silva and Bob", messaging.Extras{
			Contacts: []provider.Card{card, {VCard: "BEGIN:VCARD\nFN:Bob\nEND:VCARD", Name: provider.CardName{Formatted: "Bob"}}},
		}))},
		{name: "reply", payload: came(extras("Tuesday", messaging.Extras{Reply: &provider.Reply{ID: "tue", Title: "Tuesday"}, Context: &messaging.Quote{MessageID: "3EB0AA"}}))},
		{name: "reaction", payload: came(extras("reacted with 🙏", messaging.Extras{Reaction: &provider.Reaction{MessageID: "3EB0AA", Emoji: "🙏"}}))},
		{name: "reaction taken back", payload: came(extras("took a reaction back", messaging.Extras{Reaction: &provider.Reaction{MessageID: "3EB0AA"}}))},
		{name: "poll", payload: sent(extras("Which? 1. A 2. B", messaging.Extras{Poll: &ballot}))},
		{name: "vote", payload: came(extras("B", messaging.Extras{Reply: &provider.Reply{ID: "B", Title: "B"}, Poll: &messaging.Poll{
			Question: "Which?", Options: ballot.Options, MessageID: "3EB0AA", Selected: []string{"B"},
		}}))},
		{name: "vote in a group", chat: group, payload: inGroup(came(extras("", messaging.Extras{Participant: member, Poll: &messaging.Poll{
			Question: "Which?", Options: ballot.Options, MessageID: "3EB0AA",
		}})))},
		{name: "edited", payload: came(extras("better", messaging.Extras{Edited: &messaging.MessageRef{MessageID: "3EB0AA"}}))},
		{name: "revoked", payload: came(extras("This message was deleted", messaging.Extras{Revoked: &messaging.MessageRef{MessageID: "3EB0AA"}}))},
		{name: "revoked in a group", chat: group, payload: inGroup(came(extras("This message was deleted", messaging.Extras{
			Participant: member, Revoked: &messaging.MessageRef{MessageID: "3EB0AA"},
		})))},
		{name: "order", payload: came(extras("Order: 2 × p1", messaging.Extras{Order: &provider.Order{
			CatalogID: "7", Items: []provider.OrderItem{{ProductID: "p1", Quantity: "2", Price: "30.10", Currency: "EUR"}},
		}}))},
		{name: "what nobody knows", payload: came(extras("A message of a kind that is not supported", messaging.Extras{Unsupported: &provider.Unknown{Kind: "ephemeral"}}))},
		{name: "text on Cloud API", chat: "16505551234", payload: came(text)},
		{name: "text on Messenger", chat: "24681012@messenger", payload: came(text)},
		{name: "text in the sandbox", chat: "ana@sandbox", payload: came(text)},
	}
	for i := range out {
		out[i].kind = messaging.EventMessage
	}
	return out
}

// others are all events that are no messages.
func others() []happened {
	var out []happened
	for _, s := range []string{"SENDING", "FAIL", "DELIVERED", "READ", "PLAYED"} {
		out = append(out, happened{name: "status " + s, kind: messaging.EventStatus, payload: messaging.StatusPayload{Head: head(true, s)}})
	}
	there := head(true, "READ")
	there.RemoteJID, there.ChatID = "120363025246125486::group", group
	out = append(
		out,
		happened{name: "status READ, by us", kind: messaging.EventStatus, payload: messaging.StatusPayload{Head: head(false, "READ")}},
		happened{name: "status READ in a group", chat: group, kind: messaging.EventStatus, payload: messaging.StatusPayload{Head: there}},
	)
	for _, s := range []provider.CallStatus{provider.CallRinging, provider.CallAccepted, provider.CallRejected, provider.CallMissed, provider.CallEnded} {
		out = append(out, happened{name: "call " + string(s), kind: messaging.EventCalls, payload: messaging.CallPayload{
			Reference: 7, Ref: 7, RemoteJID: "16505551234::single", ChatID: person, ID: "C1", Status: s, Video: s == provider.CallRinging, MessageTimestamp: messaging.UnixTime{Time: epoch},
		}})
	}
	session := func(state messaging.State, code string) messaging.SessionPayload {
		p := messaging.SessionPayload{Reference: 7, Ref: 7, State: state, Timestamp: messaging.UnixTime{Time: epoch}}
		if code != "" {
			p.LastError = &messaging.SessionError{Code: code, Message: "in the network's words", At: messaging.UnixTime{Time: epoch}}
		}
		return p
	}
	qr := &messaging.QR{Code: "2@abc", Image: "data:image/png;base64,iVBORw0KGgo=", ExpiresAt: messaging.UnixTime{Time: epoch.Add(time.Minute)}}
	for _, s := range []messaging.State{
		messaging.StateStopped, messaging.StateStarting, messaging.StatePairing, messaging.StateConnected, messaging.StateReconnecting, messaging.StateLoggedOut, messaging.StateFailed,
	} {
		out = append(out, happened{name: "session " + string(s), kind: messaging.EventSession, payload: session(s, "")})
	}
	return append(
		out,
		happened{name: "session PAIRING with a code", kind: messaging.EventSession, payload: session(messaging.StatePairing, ""), qr: qr},
		happened{name: "session FAILED, banned", kind: messaging.EventSession, payload: session(messaging.StateFailed, "banned")},
		happened{name: "session FAILED, credentials", kind: messaging.EventSession, payload: session(messaging.StateFailed, "credentials")},
		happened{name: "data", kind: "data", payload: map[string]any{"reference": 7, "values": map[string]any{"order": "A-17"}}},
		happened{name: "subscription", kind: "subscription", payload: map[string]any{"reference": 7, "plan": "pro"}},
	)
}

// written is one of a golden file's entries. No body: it is not sent.
type written struct {
	Event string          `json:"event"`
	Body  json.RawMessage `json:"body"`
}

// TestGoldens compares every kind of event in every format.
func TestGoldens(t *testing.T) {
	t.Parallel()
	for _, f := range compat.Formats() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			golden(t, f.Name+"-messages.json", all(t, f, messages()))
			golden(t, f.Name+"-others.json", all(t, f, others()))
		})
	}
}

func all(t *testing.T, f *compat.Format, events []happened) []byte {
	t.Helper()
	out := make([]written, len(events))
	for i := range events {
		ev := events[i].event(t)
		out[i].Event = events[i].name
		body, err := f.Body(ev)
		if !f.Has(ev.Type, ev.Payload) {
			require.Error(t, err, events[i].name)
			continue
		}
		require.NoError(t, err, events[i].name)
		out[i].Body = body
	}
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(out))
	return raw.Bytes()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), name)
}

// TestNotSent says what each of them has no likeness of.
func TestNotSent(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"evolution": {"data", "subscription"},
		"waha":      {"call ended", "data", "subscription"},
		"wuzapi":    {"status SENDING", "status FAIL", "status PLAYED", "session STARTING", "data", "subscription"},
	} {
		f := compat.Find(name)
		var silent []string
		for _, h := range append(messages(), others()...) {
			if ev := h.event(t); !f.Has(ev.Type, ev.Payload) {
				silent = append(silent, h.name)
			}
		}
		require.Equal(t, want, silent, name)
	}
	require.Nil(t, compat.Find("trunkline"))
	for _, f := range compat.Formats() {
		gateway := f.Name != "cloud"
		for kind, want := range map[string]bool{"message": true, "status": true, "calls": gateway, "session": gateway, "data": false, "subscription": false} {
			require.Equal(t, want, f.Has(kind, nil), kind)
		}
	}
}

// TestBareReference writes events of a reference of which nothing is known.
func TestBareReference(t *testing.T) {
	t.Parallel()
	for _, f := range compat.Formats() {
		for _, h := range append(messages(), others()...) {
			ev := h.event(t)
			ev.Reference, ev.ChatID = compat.Reference{}, ""
			if f.Has(ev.Type, ev.Payload) {
				body, err := f.Body(ev)
				require.NoError(t, err)
				require.True(t, json.Valid(body))
			}
		}
	}
}

// FuzzBody gives the formats whatever might be in a payload.
func FuzzBody(f *testing.F) {
	for _, h := range append(messages(), others()...) {
		ev := h.event(f)
		f.Add(ev.Type, ev.ChatID, ev.Payload)
	}
	f.Add("message", "", []byte(`{"type":"image","contacts":[{}],"poll":{"messageId":"x"},"participant":{},"context":{},"edited":{},"revoked":{}}`))
	f.Add("session", "x", []byte(`[]`))
	f.Fuzz(func(t *testing.T, kind, chat string, payload []byte) {
		for _, format := range compat.Formats() {
			has := format.Has(kind, payload)
			body, err := format.Body(compat.Event{ID: "e", Type: kind, ChatID: chat, At: epoch, Payload: payload})
			require.Equal(t, has, err == nil, "%s: %v", format.Name, err)
			require.True(t, !has || json.Valid(body))
		}
	})
}
