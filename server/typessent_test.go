package server_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// typeSent is a message that is sent. In its text {in} stands for the contact's
// message, {media NAME} for a file that was uploaded, {web} for where files are
// served.
type typeSent struct {
	name, message string
	reply         bool // to the contact's message
	refused       bool // with a problem
}

var typesSent = []typeSent{
	{name: "text", message: `{"type":"text","text":"Hello, ana <3 & 👋"}`},
	{name: "text with preview", message: `{"type":"text","text":"See https://example.org","previewUrl":true}`},
	{name: "text with mentions", message: `{"type":"text","text":"Hello","mentions":["16505551234"]}`},
	{name: "reply", message: `{"type":"text","text":"Yes"}`, reply: true},
	{name: "reply with image", message: `{"type":"image","mediaId":"{media cat.png}"}`, reply: true},
	{name: "image", message: `{"type":"image","mediaId":"{media cat.png}","caption":"A cat"}`},
	{name: "image by url", message: `{"type":"image","url":"{web}/cat.png","caption":"A cat"}`},
	{name: "image by broken url", message: `{"type":"image","url":"{web}/nothing.png"}`},
	{name: "video", message: `{"type":"video","mediaId":"{media clip.mp4}","caption":"Look"}`},
	{name: "video by url", message: `{"type":"video","url":"{web}/clip.mp4"}`},
	{name: "document", message: `{"type":"document","mediaId":"{media offer.pdf}","caption":"Our offer","fileName":"Offer 7.pdf"}`},
	{name: "document without name", message: `{"type":"document","mediaId":"{media offer.pdf}"}`},
	{name: "document by url", message: `{"type":"document","url":"{web}/offer.pdf","fileName":"Offer 7.pdf"}`},
	{name: "audio", message: `{"type":"audio","mediaId":"{media song.mp3}"}`},
	{name: "audio by url", message: `{"type":"audio","url":"{web}/song.mp3"}`},
	{name: "audio with caption", message: `{"type":"audio","mediaId":"{media song.mp3}","caption":"No"}`, refused: true},
	{name: "voice note", message: `{"type":"audio","mediaId":"{media voice.ogg}","voice":true}`},
	{name: "voice note by url", message: `{"type":"audio","url":"{web}/voice.ogg","voice":true}`},
	{name: "sticker", message: `{"type":"sticker","mediaId":"{media sticker.webp}"}`},
	{name: "sticker by url", message: `{"type":"sticker","url":"{web}/sticker.webp"}`},
	{name: "template", message: `{"type":"template","template":{"name":"hello","language":{"code":"en_US"}}}`},
	{name: "template by place", message: `{"type":"template","template":` + call("order_shipped", "en_US", filledOrder) + `}`},
	{name: "template by name", message: `{"type":"template","template":` + call("welcome", "pt_BR", filledWelcome) + `}`},
	{name: "template with buttons", message: `{"type":"template","template":` + call("rate_us", "en_US",
		`[{"type":"button","sub_type":"quick_reply","index":"0","parameters":[{"type":"payload","payload":"good"}]}]`) + `}`},
	{name: "buttons", message: `{"type":"buttons","text":"Sure?","buttons":[{"id":"y","title":"Yes"},{"id":"n","title":"No"}]}`},
	{name: "list", message: `{"type":"list","text":"Which?","button":"Choose","sections":[{"title":"Days","rows":[{"id":"mon","title":"Monday","description":"At nine"},{"id":"tue","title":"Tuesday"}]}]}`},
	{name: "location", message: `{"type":"location","latitude":50.73,"longitude":7.1,"name":"The shop","address":"Market 1, Bonn"}`},
	{name: "location without name", message: `{"type":"location","latitude":0,"longitude":-7.5}`},
	{name: "contacts", message: `{"type":"contacts","contacts":[{"name":{"formattedName":"Eva Roth","firstName":"Eva","lastName":"Roth"},"phones":[{"phone":"+49 228 555","type":"WORK","waId":"49228555"}],` +
		`"emails":[{"email":"eva@example.org","type":"WORK"}],"urls":[{"url":"https://example.org"}],"addresses":[{"street":"Market 1","city":"Bonn","zip":"53111","countryCode":"DE"}],` +
		`"org":{"company":"Roth","title":"Owner"},"birthday":"1980-02-01"}]}`},
	{name: "reaction", message: `{"type":"reaction","messageId":"{in}","emoji":"👍"}`},
	{name: "reaction removed", message: `{"type":"reaction","messageId":"{in}","emoji":""}`},
	{name: "edit", message: `{"type":"edit","messageId":"{in}","text":"Hi"}`, refused: true},
	{name: "revoke", message: `{"type":"revoke","messageId":"{in}"}`, refused: true},
	{name: "poll", message: `{"type":"poll","question":"Which day?","options":["Monday","Tuesday"],"multiple":true}`},
	{name: "interactive", message: `{"type":"interactive","interactive":{"type":"cta_url","body":{"text":"Our shop"},"action":{"name":"cta_url","parameters":{"display_text":"Open","url":"https://example.org"}}}}`},
	{name: "tagged", message: `{"type":"text","text":"Hi","tag":"HUMAN_AGENT"}`},
}

// TestTypesSent sends each type of message. What the network got, what it then
// reports as webhooks, and the record, are those on file.
func TestTypesSent(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		w := startTypes(t, db)
		account := cloudNumber("900").BusinessAccountID
		rating := shipped(account)
		rating.Name, rating.Components = "rate_us", []json.RawMessage{
			component(`{"type":"BODY","text":"How was it?"}`), component(`{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Good"},{"type":"QUICK_REPLY","text":"Bad"}]}`),
		}
		plain := shipped(account)
		plain.Name, plain.Components = "hello", []json.RawMessage{component(`{"type":"BODY","text":"Hello!"}`)}
		for _, x := range []graphtest.Template{shipped(account), named(account), rating, plain} {
			w.net.Templates.Put(x)
		}
		w.request(t, "GET", fmt.Sprintf("/templates?reference=%d", w.ref), "")
		w.playAll(t)
	})
}

// sending is a case under way.
type sending struct {
	typeSent
	contact  string
	names    map[string]string // of what is new in every run
	body     map[string]any    // of the send
	status   int
	answer   map[string]any
	request  json.RawMessage // what the network got
	statuses []string        // that it reports
}

// playAll takes all cases through each step before the next, so that they wait
// together.
func (w *typesWorld) playAll(t *testing.T) {
	t.Helper()
	all := make([]*sending, len(typesSent))
	for i, c := range typesSent {
		all[i] = w.send(t, c, number(i))
	}
	for _, s := range all {
		w.report(t, s)
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) { w.compare(t, s) })
	}
}

var placeholders = regexp.MustCompile(`\{(in|web|media ([^}]+))\}`)

// send lets the contact write, and answers.
func (w *typesWorld) send(t *testing.T, c typeSent, contact string) *sending {
	t.Helper()
	in, err := w.net.Write(t.Context(), graphtest.Inbound{From: contact, Name: "Ana", Text: "Hello"})
	require.NoError(t, err)
	s := &sending{typeSent: c, contact: contact, names: map[string]string{in: "<their message>", contact: "<contact>", w.web: "<web>"}}
	w.post(t, s, in, contact)
	return s
}

// post sends the message of a case, which may answer the contact's.
func (w *typesWorld) post(t *testing.T, s *sending, in, chat string) {
	t.Helper()
	message := placeholders.ReplaceAllStringFunc(s.message, func(p string) string {
		switch p {
		case "{in}":
			return in
		case "{web}":
			return w.web
		}
		name := placeholders.FindStringSubmatch(p)[2]
		kept := w.ana.upload(t, part{"file", name, "", string(w.file(t, name))}, part{field: "reference", body: fmt.Sprint(w.ref)}).json(201)["mediaId"].(string)
		s.names[kept] = "<media>"
		return kept
	})
	s.body = map[string]any{"reference": w.ref, "chatId": chat, "message": json.RawMessage(message)}
	if s.reply {
		s.body["context"] = map[string]string{"messageId": in}
	}
	raw, err := json.Marshal(s.body)
	require.NoError(t, err)
	s.status, s.answer = w.request(t, "POST", "/chats/send", string(raw))
	if !s.refused {
		require.Equal(t, 200, s.status, "%s: %v", s.name, s.answer)
	}
}

// report lets the network tell what has become of a message.
func (w *typesWorld) report(t *testing.T, s *sending) {
	t.Helper()
	if s.refused {
		return
	}
	shown, err := w.net.WaitShown(t.Context(), s.contact, 1)
	require.NoError(t, err)
	m := shown[0]
	s.request, s.names[m.ID] = m.Body, "<message>"
	if m.FileID != "" {
		s.names[m.FileID] = "<file>"
	}
	s.statuses = []string{"sent", "delivered", "read"}
	if m.Type == "audio" {
		s.statuses = append(s.statuses, "played")
	}
	for _, status := range s.statuses {
		require.NoError(t, w.net.Status(t.Context(), m.ID, status, 0))
	}
}

// compare holds what happened against the file.
func (w *typesWorld) compare(t *testing.T, s *sending) {
	t.Helper()
	if s.refused {
		require.Empty(t, w.net.Shown(s.contact))
		golden(t, "sent/"+s.name, map[string]any{"send": s.body, "status": s.status, "problem": s.answer}, s.names)
		return
	}
	hooks := w.hooks(t, s.contact+"::single", 1+len(s.statuses))[1:] // without the contact's; "sent" is no news
	_, list := w.request(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s&limit=1", w.ref, s.contact), "")
	golden(t, "sent/"+s.name, map[string]any{
		"send": s.body, "request": s.request, "webhooks": hooks, "record": list["items"].([]any)[0],
	}, s.names)
}
