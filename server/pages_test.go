package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

const pageNumber = "555100000000009"

func messengerPage() graphtest.Page {
	return graphtest.Page{ID: pageNumber, Name: "Hat Shop", AccessToken: "token-of-page", AppSecret: "app-secret-of-page", VerifyToken: "verify-token-of-page"}
}

// pageReference is the body that makes a reference of a page.
func pageReference(p graphtest.Page) string {
	b, err := json.Marshal(wire{"name": "Page", "type": "provider-messenger", "settings": wire{
		"pageId": p.ID, "accessToken": p.AccessToken, "appSecret": p.AppSecret, "verifyToken": p.VerifyToken,
	}})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// startPage is a server with a Messenger reference.
func startPage(t *testing.T, db *sqlx.DB, o graphOptions) *typesWorld {
	t.Helper()
	o.Pages = []graphtest.Page{messengerPage()}
	return startWorld(t, db, &o, pageReference(o.Pages[0]))
}

// onPage runs fn with a Messenger reference on each database.
func onPage(t *testing.T, o graphOptions, fn func(t *testing.T, w *typesWorld)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, startPage(t, db, o))
	})
}

// pageSent is a message that a page sends, in so many parts; 0: it is refused.
type pageSent struct {
	name, message string
	parts         int
	reply         bool
}

var pageTypesSent = []pageSent{
	{"text", `{"type":"text","text":"Hello, ana <3 & 👋","previewUrl":true}`, 1, false},
	{"reply", `{"type":"text","text":"Yes"}`, 1, true},
	{"tagged", `{"type":"text","text":"Hi","tag":"HUMAN_AGENT"}`, 1, false},
	{"tag that has ended", `{"type":"text","text":"Hi","tag":"ACCOUNT_UPDATE"}`, 0, false},
	{"text that is too long", `{"type":"text","text":"` + strings.Repeat("ü", 2001) + `"}`, 0, false},
	{"image", `{"type":"image","mediaId":"{media cat.png}"}`, 1, false},
	{"image with caption", `{"type":"image","mediaId":"{media cat.png}","caption":"A cat"}`, 2, true},
	{"image by url", `{"type":"image","url":"{web}/cat.png"}`, 1, false},
	{"video", `{"type":"video","mediaId":"{media clip.mp4}"}`, 1, false},
	{"document", `{"type":"document","mediaId":"{media offer.pdf}","fileName":"Offer 7.pdf"}`, 1, false},
	{"audio", `{"type":"audio","mediaId":"{media song.mp3}"}`, 1, false},
	{"voice note", `{"type":"audio","mediaId":"{media voice.ogg}","voice":true}`, 1, false},
	{"buttons", `{"type":"buttons","text":"Sure?","buttons":[{"id":"y","title":"Yes"},{"id":"n","title":"No"}]}`, 1, false},
	{"button that is too long", `{"type":"buttons","text":"Sure?","buttons":[{"id":"y","title":"A title of too many characters"}]}`, 0, false},
	{"brief list", `{"type":"list","text":"Which?","button":"Choose","sections":[{"rows":[{"id":"mon","title":"Monday"},{"id":"tue","title":"Tuesday"}]}]}`, 1, false},
	{"list", `{"type":"list","text":"Which?","button":"Choose","sections":[{"title":"Days","rows":[{"id":"mon","title":"Monday","description":"At nine"},{"id":"tue","title":"Tuesday"}]}]}`, 2, false},
	{"poll", `{"type":"poll","question":"Which day?","options":["Monday","Tuesday"]}`, 1, false},
	{"interactive", `{"type":"interactive","interactive":{"template_type":"button","text":"Our shop","buttons":[{"type":"web_url","title":"Open","url":"https://example.org"}]}}`, 1, false},
	{"template", `{"type":"template","template":{"name":"hello","language":{"code":"en_US"}}}`, 0, false},
	{"location", `{"type":"location","latitude":50.73,"longitude":7.1}`, 0, false},
	{"sticker", `{"type":"sticker","mediaId":"{media sticker.webp}"}`, 0, false},
	{"contacts", `{"type":"contacts","contacts":[{"name":{"formattedName":"Eva Roth"}}]}`, 0, false},
	{"reaction", `{"type":"reaction","messageId":"{in}","emoji":"👍"}`, 0, false},
	{"edit", `{"type":"edit","messageId":"{in}","text":"Hi"}`, 0, false},
	{"revoke", `{"type":"revoke","messageId":"{in}"}`, 0, false},
}

// TestPageTypesSent sends each type of message. What the network got, what its
// echoes and watermarks then make as webhooks, and the records, are those on
// file.
func TestPageTypesSent(t *testing.T) {
	t.Parallel()
	onPage(t, graphOptions{Echoes: true}, func(t *testing.T, w *typesWorld) {
		all := make([]*sending, len(pageTypesSent))
		for i, c := range pageTypesSent {
			all[i] = w.sendFromPage(t, c, number(i))
		}
		for i, s := range all {
			t.Run(s.name, func(t *testing.T) { w.comparePage(t, s, pageTypesSent[i].parts) })
		}
	})
}

// sendFromPage lets a person write, and answers.
func (w *typesWorld) sendFromPage(t *testing.T, c pageSent, contact string) *sending {
	t.Helper()
	in, err := w.net.Pages.Write(t.Context(), graphtest.PageInbound{From: contact, Text: "Hello"})
	require.NoError(t, err)
	s := &sending{typeSent: typeSent{name: c.name, message: c.message, reply: c.reply, refused: c.parts == 0}, contact: contact}
	s.names = map[string]string{in: "<their message>", contact: "<contact>", w.web: "<web>"}
	w.post(t, s, in, contact+"@messenger")
	return s
}

// comparePage holds what happened against the file. Each part makes its own
// webhooks, which are in order; those of several parts are not among each
// other.
func (w *typesWorld) comparePage(t *testing.T, s *sending, parts int) {
	t.Helper()
	if parts == 0 {
		require.Empty(t, w.net.Shown(s.contact))
		golden(t, "pages/sent/"+s.name, wire{"send": s.body, "status": s.status, "problem": s.answer}, s.names)
		return
	}
	shown, err := w.net.WaitShown(t.Context(), s.contact, parts)
	require.NoError(t, err)
	var requests []json.RawMessage
	place := map[string]int{}
	for i, m := range shown {
		requests = append(requests, m.Body)
		place[m.ID] = i
		s.names[m.ID] = fmt.Sprintf("<message %d>", i+1)
		if m.FileID != "" {
			s.names[m.FileID] = "<file>"
		}
	}
	for _, status := range []string{"delivered", "read"} {
		for _, m := range shown {
			require.NoError(t, w.net.Pages.Watermark(t.Context(), m.ID, status))
		}
	}
	hooks := w.hooks(t, s.contact+"::single", 1+3*parts)[1:] // without the contact's
	slices.SortStableFunc(hooks, func(a, b webhookOf) int { return place[a.Payload["id"].(string)] - place[b.Payload["id"].(string)] })
	_, list := w.request(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s&limit=%d", w.ref, s.contact, parts), "")
	golden(t, "pages/sent/"+s.name, wire{"send": s.body, "requests": requests, "webhooks": hooks, "records": list["items"]}, s.names)
}

// pageReceived is something that arrives at a page, with so many webhooks.
type pageReceived struct {
	name     string
	in       graphtest.PageInbound
	files    []string // "image cat.png": type and name
	item     wire     // instead of a message
	echo     bool     // the page wrote it
	app      string   // by which program
	webhooks int
}

func attached(kind string, payload any) []any { return []any{wire{"type": kind, "payload": payload}} }

var pageTypesReceived = []pageReceived{
	{name: "text", in: graphtest.PageInbound{Text: "Hello, shop <3 & 👋"}, webhooks: 1},
	{name: "reply", in: graphtest.PageInbound{Text: "Yes", ReplyTo: "m_quoted"}, webhooks: 1},
	{name: "quick reply", in: graphtest.PageInbound{Text: "Yes", QuickReply: "y"}, webhooks: 1},
	{name: "image", files: []string{"image cat.png"}, webhooks: 1},
	{name: "image with words", in: graphtest.PageInbound{Text: "A cat"}, files: []string{"image cat.png"}, webhooks: 1},
	{name: "two files", files: []string{"image cat.png", "file offer.pdf"}, webhooks: 2},
	{name: "video", files: []string{"video clip.mp4"}, webhooks: 1},
	{name: "audio", files: []string{"audio song.mp3"}, webhooks: 1},
	{name: "words and audio", in: graphtest.PageInbound{Text: "Listen"}, files: []string{"audio song.mp3"}, webhooks: 2},
	{name: "sticker", files: []string{"sticker sticker.webp"}, webhooks: 1},
	{name: "location", in: graphtest.PageInbound{Attachments: attached("location", wire{"coordinates": wire{"lat": 50.73, "long": 7.1}})}, webhooks: 1},
	{name: "link", in: graphtest.PageInbound{Attachments: attached("fallback", wire{"title": "Example", "url": "https://example.com"})}, webhooks: 1},
	{name: "link with words", in: graphtest.PageInbound{Text: "See https://example.com", Attachments: attached("fallback", wire{"title": "Example", "url": "https://l.example"})}, webhooks: 1},
	{name: "post", in: graphtest.PageInbound{Attachments: attached("post", wire{"title": "A post", "url": "https://www.facebook.com/1"})}, webhooks: 1},
	{name: "product", in: graphtest.PageInbound{Attachments: attached("template", wire{"product": wire{"elements": []any{wire{"title": "Hat", "subtitle": "$40"}}}})}, webhooks: 1},
	{name: "unknown attachment", in: graphtest.PageInbound{Attachments: attached("hologram", wire{"id": 1})}, webhooks: 1},
	{name: "ad", in: graphtest.PageInbound{Text: "More, please", Referral: wire{"ref": "summer", "ad_id": "12", "source": "ADS", "type": "OPEN_THREAD"}}, webhooks: 1},
	{name: "standby", in: graphtest.PageInbound{Text: "To somebody else", Standby: true}, webhooks: 1},
	{name: "from the inbox", in: graphtest.PageInbound{Text: "On my way"}, echo: true, webhooks: 1},
	{name: "from another app", in: graphtest.PageInbound{Text: "We are closed"}, echo: true, app: "7", webhooks: 1},
	{name: "unsupported", item: wire{"message": wire{"mid": "m_unsupported", "is_unsupported": true}}, webhooks: 1},
	{name: "deleted", item: wire{"message": wire{"mid": "m_gone", "is_deleted": true}}, webhooks: 1},
	{name: "edit", item: wire{"message_edit": wire{"mid": "m_quoted", "text": "I meant Monday", "num_edit": 1}}, webhooks: 1},
	{name: "reaction", item: wire{"reaction": wire{"mid": "m_quoted", "action": "react", "emoji": "😢", "reaction": "sad"}}, webhooks: 1},
	{name: "reaction removed", item: wire{"reaction": wire{"mid": "m_quoted", "action": "unreact"}}, webhooks: 1},
	{name: "postback", item: wire{"postback": wire{"mid": "m_start", "title": "Start", "payload": "GET_STARTED"}}, webhooks: 1},
	{name: "link opened", item: wire{"referral": wire{"ref": "flyer", "source": "SHORTLINK", "type": "OPEN_THREAD"}}, webhooks: 1},
	{name: "plugin", item: wire{"optin": wire{"ref": "newsletter"}}, webhooks: 1},
}

var madeIDs = regexp.MustCompile(`"#([a-z]+):[0-9a-f]{32}"`)

// TestPageTypesReceived lets each thing arrive that makes a message. What comes
// of it as webhooks, and the records, are those on file.
func TestPageTypesReceived(t *testing.T) {
	t.Parallel()
	onPage(t, graphOptions{}, func(t *testing.T, w *typesWorld) {
		names := make([]map[string]string, len(pageTypesReceived))
		for i, c := range pageTypesReceived {
			names[i] = w.receiveAtPage(t, c, number(i))
		}
		for i, c := range pageTypesReceived {
			t.Run(c.name, func(t *testing.T) {
				hooks := w.hooks(t, number(i)+"::single", c.webhooks)
				_, list := w.request(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s", w.ref, number(i)), "")
				raw, err := json.Marshal(wire{"webhooks": hooks, "records": list["items"]})
				require.NoError(t, err)
				golden(t, "pages/received/"+c.name, json.RawMessage(madeIDs.ReplaceAll(raw, []byte(`"#$1:<made>"`))), names[i])
			})
		}
		w.ana.log.hasNoErrors(t)
	})
}

// receiveAtPage lets something arrive and names what is new in it.
func (w *typesWorld) receiveAtPage(t *testing.T, c pageReceived, contact string) map[string]string {
	t.Helper()
	names := map[string]string{contact: "<contact>"}
	if c.item != nil {
		item := wire{"sender": wire{"id": contact}}
		for name, value := range c.item {
			item[name] = value
		}
		require.NoError(t, w.net.Pages.PostItem(t.Context(), "", item))
		return names
	}
	in := c.in
	in.From = contact
	for _, f := range c.files {
		kind, name, _ := strings.Cut(f, " ")
		id := w.net.Files.Put(pageNumber, map[string]string{"image": "image/png", "video": "video/mp4", "audio": "audio/mpeg", "file": "application/pdf", "sticker": "image/webp"}[kind], w.file(t, name))
		in.Attachments = append(in.Attachments, wire{"type": kind, "payload": wire{"url": w.net.Files.URL(id)}})
		names[id] = "<file>"
	}
	write := w.net.Pages.Write
	if c.echo {
		write = func(ctx context.Context, in graphtest.PageInbound) (string, error) {
			return w.net.Pages.Echo(ctx, in, c.app)
		}
	}
	id, err := write(t.Context(), in)
	require.NoError(t, err)
	names[id] = "<message>"
	return names
}

// TestEverythingOfAPage posts one of each thing that a page receives: none is
// refused, each is counted, and none cannot be read.
func TestEverythingOfAPage(t *testing.T) {
	t.Parallel()
	f := working(t, setup(t, nil))
	ana := f.as(t, "ana")
	p := messengerPage()
	ref := ana.reference(t, pageReference(p))
	g := startGraph(t, &graphOptions{Pages: []graphtest.Page{p}, Callback: "http://trunkline.test/webhooks/provider", HTTPClient: into(f)})
	require.NoError(t, g.Handshake(t.Context(), p.ID))
	for _, x := range graphtest.PageSamples(p.ID, contact) {
		require.NoError(t, g.Pages.PostSample(t.Context(), "", x), x.Name)
	}
	for what, least := range map[string]int{"message": 28, "status": 3, "contact": 4, "handover": 3, "health": 1, "raw:handover": 1, "raw:message:hologram": 1, "raw:game_play": 1, "raw:feed": 1} {
		require.GreaterOrEqual(t, gauge(t, f, `trunkline_received_total{kind="provider-messenger",what="`+what+`"}`), float64(least), what)
	}
	require.Negative(t, gauge(t, f, `trunkline_received_total{kind="provider-messenger",what="dead"}`))
	f.log.hasNoErrors(t)
	session := ana.call(t, "GET", fmt.Sprintf("/reference/session/status?reference=%d", ref), "").json(200)
	require.Equal(t, "CONNECTED", session["state"])

	// Only who has the page's secret may post for it.
	body := `{"object":"page","entry":[{"id":"` + p.ID + `","messaging":[]}]}`
	require.Equal(t, 200, f.post(t, body, p.AppSecret).Code)
	require.Equal(t, 401, f.post(t, body, "another secret").Code)
	require.Equal(t, 401, f.post(t, strings.ReplaceAll(body, p.ID, "1"), p.AppSecret).Code)
	require.Equal(t, 200, f.post(t, `{"object":"instagram","entry":[]}`, "another secret").Code)
}

// TestPageSession starts a page: its token is checked, its events are
// subscribed, and a policy that forbids it to write is its error.
func TestPageSession(t *testing.T) {
	t.Parallel()
	onPage(t, graphOptions{}, func(t *testing.T, w *typesWorld) {
		shown := w.ana.call(t, "GET", fmt.Sprintf("/reference/%d", w.ref), "").json(200)
		require.Equal(t, wire{"pageId": pageNumber, "accessToken": "••••page", "appSecret": "••••page", "verifyToken": "••••page"}, shown["settings"])
		require.EqualValues(t, 24, shown["capabilities"].(wire)["window"])
		start := func() wire {
			return w.ana.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, w.ref)).json(200)
		}
		session := start()
		require.Equal(t, "CONNECTED", session["state"])
		require.Equal(t, wire{"id": pageNumber, "name": "Hat Shop", "verifiedBizName": ""}, session["account"])
		require.Contains(t, w.net.Pages.SubscribedFields(pageNumber), "message_reads")

		w.ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"provider":true}`, w.ref)).is(200, `{"success":true}`)
		refused := w.ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"provider":true,"callbackUrl":"https://shop.test/"}`, w.ref)).problem(422, "validation")
		require.Equal(t, "body.callbackUrl", refused.Errors[0].Location)

		require.NoError(t, w.net.Pages.PostItem(t.Context(), "", wire{"policy-enforcement": wire{"action": "block", "reason": "Too much"}}))
		status := w.ana.call(t, "GET", fmt.Sprintf("/reference/session/status?reference=%d", w.ref), "").json(200)
		require.Equal(t, "FAILED", status["state"])
		require.Contains(t, status["lastError"].(wire)["message"], "Too much")
		require.NoError(t, w.net.Pages.PostItem(t.Context(), "", wire{"policy-enforcement": wire{"action": "unblock"}}))
		require.Equal(t, "CONNECTED", w.ana.call(t, "GET", fmt.Sprintf("/reference/session/status?reference=%d", w.ref), "").json(200)["state"])

		w.net.Fail(graphtest.Fault{Path: "/me", Code: 190, Subcode: 460})
		require.Equal(t, "FAILED", start()["state"])
		require.Equal(t, "CONNECTED", start()["state"])
	})
}

// TestPageWindow writes to people who wrote long ago, or never.
func TestPageWindow(t *testing.T) {
	t.Parallel()
	onPage(t, graphOptions{Window: true}, func(t *testing.T, w *typesWorld) {
		send := func(to, tag string) answer {
			return w.ana.call(t, "POST", "/chats/send", sendBody(w.ref, to, `{"type":"text","text":"Hi"`+tag+`}`))
		}
		const tagged = `,"tag":"HUMAN_AGENT"`
		for i, days := range []int{0, 3, 8} {
			_, err := w.net.Pages.Write(t.Context(), graphtest.PageInbound{From: number(i), Text: "Hello", At: time.Now().Add(-time.Duration(days) * 24 * time.Hour)})
			require.NoError(t, err)
		}
		send(number(0), "").json(200)
		require.Contains(t, send(number(1), "").problem(409, "window_closed").Detail, "HUMAN_AGENT within 7 days")
		send(number(1), tagged).json(200)
		send(number(2), tagged).problem(409, "window_closed")
		send("777", tagged).problem(409, "window_closed")

		// What the network says of the window counts.
		w.net.Fail(graphtest.Fault{Code: 10, Subcode: 2018278})
		send(number(0), "").problem(409, "window_closed")
	})
}

// TestPageUncertain loses the answer to a send: the echo settles it.
func TestPageUncertain(t *testing.T) {
	t.Parallel()
	onPage(t, graphOptions{Echoes: true}, func(t *testing.T, w *typesWorld) {
		_, err := w.net.Pages.Write(t.Context(), graphtest.PageInbound{From: contact, Text: "Hello"})
		require.NoError(t, err)
		w.net.Fail(graphtest.Fault{Cut: true, Taken: true}, graphtest.Fault{Code: 613, RetryAfter: time.Second})
		w.ana.call(t, "POST", "/chats/send", sendBody(w.ref, contact, `{"type":"text","text":"Hi"}`)).json(200)
		shown, err := w.net.WaitShown(t.Context(), contact, 1)
		require.NoError(t, err)
		w.ana.until(t, func() bool { return w.ana.record(t, w.ref, shown[0].ID)["status"] == "SENDING" })
		w.ana.call(t, "POST", "/chats/send?wait=0", sendBody(w.ref, contact, `{"type":"text","text":"Later"}`)).json(200)
		shown, err = w.net.WaitShown(t.Context(), contact, 2)
		require.NoError(t, err)
		require.Equal(t, "Later", shown[1].Text, "it waited for as long as it was told")
		require.Len(t, w.hooks(t, contact+"::single", 3), 3)
	})
}

// TestPageNames asks for the names of people, after their messages were
// acknowledged.
func TestPageNames(t *testing.T) {
	t.Parallel()
	onPage(t, graphOptions{}, func(t *testing.T, w *typesWorld) {
		w.net.Pages.SetProfile(contact, "María", "Paz")
		write := func(from string) {
			_, err := w.net.Pages.Write(t.Context(), graphtest.PageInbound{From: from, Text: "Hello"})
			require.NoError(t, err)
		}
		write(contact)
		write(number(1)) // who has no profile
		named := func() []any {
			return w.ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d&search=paz", w.ref), "").json(200)["items"].([]any)
		}
		w.ana.until(t, func() bool { return len(named()) == 1 })
		write(contact)
		hooks := w.hooks(t, contact+"::single", 2)
		require.Equal(t, "María Paz", hooks[1].Payload["pushName"])
	})
}

// TestPageReads shows people that they were read, and that an answer comes.
func TestPageReads(t *testing.T) {
	t.Parallel()
	onPage(t, graphOptions{}, func(t *testing.T, w *typesWorld) {
		in, err := w.net.Pages.Write(t.Context(), graphtest.PageInbound{From: contact, Text: "Hello"})
		require.NoError(t, err)
		w.ana.call(t, "POST", "/chats/read", fmt.Sprintf(`{"reference":%d,"chatId":"%s@messenger","typing":true}`, w.ref, contact)).is(200, `{"success":true,"unread":0}`)
		require.NoError(t, w.net.WaitRead(t.Context(), in))
		require.NoError(t, w.net.WaitRequest(t.Context(), func(r graphtest.Request) bool { return strings.Contains(string(r.Body), "typing_on") }))
	})
}
