package messenger_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// TestSends: what each content becomes on the wire.
func TestSends(t *testing.T) {
	t.Parallel()
	choices := []provider.Choice{{ID: "y", Title: "Yes"}, {ID: "n", Title: "No"}}
	const quick = `{"text":"Sure?","quick_replies":[{"content_type":"text","title":"Yes","payload":"y"},{"content_type":"text","title":"No","payload":"n"}]`
	hats := []provider.Section{{Title: "Hats", Rows: []provider.Choice{{ID: "1", Title: "Bowler", Description: "Black felt"}, {ID: "2", Title: "A title of 24 characters"}}}}
	const cards = `{"attachment":{"type":"template","payload":{"template_type":"generic","elements":[` +
		`{"title":"Bowler","subtitle":"Black felt","buttons":[{"type":"postback","title":"Choose","payload":"1"}]},` +
		`{"title":"A title of 24 characters","buttons":[{"type":"postback","title":"Choose","payload":"2"}]}]}}`
	const media = `{"template_type":"media","elements":[{"media_type":"image","attachment_id":"1"}]}`
	for name, c := range map[string]struct {
		content provider.Content
		message string // without its end
	}{
		"text":         {provider.Text{Text: "Hi"}, `{"text":"Hi"`},
		"buttons":      {provider.Buttons{Text: "Sure?", Buttons: choices}, quick},
		"brief list":   {provider.List{Text: "Sure?", Button: "Choose", Sections: []provider.Section{{Rows: choices}}}, quick},
		"list":         {provider.List{Button: "Choose", Sections: hats}, cards},
		"linked image": {provider.Media{Kind: provider.Image, URL: "https://example.com/a.png"}, `{"attachment":{"type":"image","payload":{"url":"https://example.com/a.png"}}`},
		"known file":   {provider.Media{Kind: provider.Document, ID: "77"}, `{"attachment":{"type":"file","payload":{"attachment_id":"77"}}`},
		"template":     {provider.Interactive{Interactive: json.RawMessage(media)}, `{"attachment":{"type":"template","payload":` + media + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, session := setup(t, graphtest.Options{})
			_, err := session.Send(t.Context(), toMaria(c.content))
			if name != "known file" {
				require.NoError(t, err)
			}
			require.JSONEq(t, `{"recipient":{"id":"`+maria+`"},"messaging_type":"UPDATE","message":`+c.message+`,"metadata":"out-1"}}`, string(fake.Requests()[0].Body))
		})
	}
}

// TestWhyItGoesOut: an answer says so, and a tag opens the window.
func TestWhyItGoesOut(t *testing.T) {
	t.Parallel()
	fake, session := setup(t, graphtest.Options{Window: true})
	out := toMaria(provider.Text{Text: "Hi"})
	_, err := session.Send(t.Context(), out)
	var closed *provider.WindowClosed
	require.ErrorAs(t, err, &closed)
	require.Contains(t, closed.Advice, "HUMAN_AGENT")
	all := listen(t, fake)
	in, err := fake.Pages.Write(t.Context(), graphtest.PageInbound{From: maria, Text: "Hello", At: time.Now().Add(-30 * time.Hour)})
	require.NoError(t, err)
	<-all
	out.Tag = "HUMAN_AGENT"
	_, err = session.Send(t.Context(), out)
	require.NoError(t, err)
	out.Tag, out.ReplyTo = "", in
	_, err = session.Send(t.Context(), out)
	require.ErrorAs(t, err, &closed)
	out.Tag = "POST_PURCHASE_UPDATE"
	_, err = session.Send(t.Context(), out)
	var bad *provider.Invalid
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "tag", bad.Field)
	var kinds []string
	for _, r := range fake.Requests() {
		var body struct {
			Type string `json:"messaging_type"`
			Tag  string
		}
		require.NoError(t, json.Unmarshal(r.Body, &body))
		kinds = append(kinds, body.Type+body.Tag)
	}
	require.Equal(t, []string{"UPDATE", "MESSAGE_TAGHUMAN_AGENT", "RESPONSE"}, kinds)
}

// TestParts: what a page says in two messages.
func TestParts(t *testing.T) {
	t.Parallel()
	_, p := fakeNetwork(t, graphtest.Options{})
	image := provider.Media{Kind: provider.Image, URL: "https://example.com/a.png", Caption: "A hat"}
	parts := p.Split(image)
	require.Equal(t, provider.Text{Text: "A hat"}, parts[1])
	require.Empty(t, parts[0].(provider.Media).Caption)
	list := provider.List{Text: "Which?", Button: "Choose", Sections: []provider.Section{{Rows: []provider.Choice{{ID: "1", Title: "One", Description: "The first"}}}}}
	parts = p.Split(list)
	require.Equal(t, provider.Text{Text: "Which?"}, parts[0])
	require.Empty(t, parts[1].(provider.List).Text)
	require.Len(t, p.Split(provider.Text{Text: "x"}), 1)
}

// TestLimits: what breaks a limit is named as its sender wrote it.
func TestLimits(t *testing.T) {
	t.Parallel()
	_, p := fakeNetwork(t, graphtest.Options{})
	long := func(n int) string { return strings.Repeat("ü", n) }
	list := func(button string, rows ...provider.Choice) provider.List {
		return provider.List{Text: "Which?", Button: button, Sections: []provider.Section{{Rows: rows}}}
	}
	raw := func(s string) provider.Interactive { return provider.Interactive{Interactive: json.RawMessage(s)} }
	for want, c := range map[string]provider.Content{
		"message.text must have at most 2000 characters":                                   provider.Text{Text: long(2001)},
		"message.text must not be empty":                                                   provider.Buttons{Buttons: []provider.Choice{{ID: "1", Title: "x"}}},
		"message.buttons[0].title must have at most 20 characters":                         provider.Buttons{Text: "x", Buttons: []provider.Choice{{ID: "1", Title: long(21)}}},
		"message.buttons[0].id must have at most 1000 characters":                          provider.Buttons{Text: "x", Buttons: []provider.Choice{{ID: long(1001), Title: "x"}}},
		"message.rows[0].title must have at most 80 characters":                            list("x", provider.Choice{ID: "1", Title: long(81)}),
		"message.rows[0].description must have at most 80 characters":                      list("x", provider.Choice{ID: "1", Title: "x", Description: long(81)}),
		"message.rows[0]'s button (message.button) must have at most 20 characters":        list(long(21), provider.Choice{ID: "1", Title: long(21)}),
		"message.caption must have at most 2000 characters":                                provider.Media{Kind: provider.Image, URL: "https://example.com/a", Caption: long(2001)},
		"message.url must be an http or https address":                                     provider.Media{Kind: provider.Image, URL: "a.png"},
		"message.mediaId must be of at most 8192 KiB as image":                             provider.Media{Kind: provider.Image, StoredID: "1", File: provider.File{Size: 9 << 20}},
		"message.interactive.template_type must not be empty":                              raw(`{}`),
		"message.interactive must be an object as the network takes it":                    raw(`[]`),
		"message.interactive.elements must hold 1 to 10":                                   raw(`{"template_type":"generic"}`),
		"message.interactive.elements[0] must have more than a title":                      raw(`{"template_type":"generic","elements":[{"title":"x"}]}`),
		"message.interactive.buttons must hold 1 to 3":                                     raw(`{"template_type":"button","text":"x","buttons":[{},{},{},{}]}`),
		"message.interactive.buttons[0].type must not be empty":                            raw(`{"template_type":"button","text":"x","buttons":[{}]}`),
		"message.interactive.buttons[0].payload must be a phone number that begins with +": raw(`{"template_type":"button","text":"x","buttons":[{"type":"phone_number","title":"x","payload":"1"}]}`),
		"message.interactive.buttons[0].url must be an http or https address":              raw(`{"template_type":"button","text":"x","buttons":[{"type":"web_url","title":"x"}]}`),
		"message.interactive.elements[0].buttons[0].title must have at most 20 characters": raw(`{"template_type":"media","elements":[{"buttons":[{"type":"postback","title":"` + long(21) + `"}]}]}`),
		"message.interactive.text must have at most 640 characters":                        raw(`{"template_type":"button","text":"` + long(641) + `","buttons":[{}]}`),
	} {
		err := p.Validate(c)
		var bad *provider.Invalid
		require.ErrorAs(t, err, &bad, want)
		require.Equal(t, want, bad.Field+" "+bad.Message)
	}
	for _, c := range []provider.Content{
		provider.Text{Text: long(2000)},
		provider.Media{Kind: provider.Image, URL: "https://example.com/a", Caption: long(2000)},
		raw(`{"template_type":"receipt","anything":1}`),
	} {
		require.NoError(t, p.Validate(c))
	}
	for _, c := range []provider.Content{
		provider.Template{}, provider.Location{}, provider.Contacts{}, provider.Reaction{}, provider.Media{Kind: provider.Sticker}, provider.Edit{}, nil,
	} {
		var missing *provider.Unsupported
		require.ErrorAs(t, p.Validate(c), &missing)
	}
}

// TestFiles: a file in our hands is uploaded, once for many sends.
func TestFiles(t *testing.T) {
	t.Parallel()
	fake, session := setup(t, graphtest.Options{})
	file := provider.Media{Kind: provider.Document, FileName: `of"fer.pdf`, File: provider.File{MIME: "application/pdf"}, Open: opening("%PDF")}
	_, err := session.Send(t.Context(), toMaria(file))
	require.NoError(t, err)
	id, until, err := session.(provider.MediaUploader).UploadMedia(t.Context(), file)
	require.NoError(t, err)
	require.True(t, until.After(time.Now().Add(24*time.Hour)))
	_, err = session.Send(t.Context(), toMaria(provider.Media{Kind: provider.Document, ID: id}))
	require.NoError(t, err)
	shown := fake.Shown(maria)
	require.Equal(t, []string{"file", "file"}, []string{shown[0].Type, shown[1].Type})
	require.Equal(t, id, shown[1].FileID)
	for _, f := range fake.Files.All() {
		require.Equal(t, graphtest.File{ID: f.ID, Owner: page, Name: "of_fer.pdf", MIME: "application/pdf", Data: []byte("%PDF")}, f)
	}
	require.Len(t, fake.Files.All(), 2)

	_, err = session.Send(t.Context(), toMaria(provider.Media{Kind: provider.Image, ID: "1"}))
	var gone *provider.Rejected
	require.ErrorAs(t, err, &gone, "of an id that the page does not have")
	large := provider.Media{Kind: provider.Image, File: provider.File{MIME: "image/png"}, Open: opening(strings.Repeat("x", 8<<20+1))}
	_, err = session.Send(t.Context(), toMaria(large))
	var bad *provider.Invalid
	require.ErrorAs(t, err, &bad)
}

// TestSeenAndTyping: what the contact sees besides messages.
func TestSeenAndTyping(t *testing.T) {
	t.Parallel()
	fake, session := setup(t, graphtest.Options{})
	all := listen(t, fake)
	id, err := fake.Pages.Write(t.Context(), graphtest.PageInbound{From: maria, Text: "Hello"})
	require.NoError(t, err)
	<-all
	to := toMaria(nil).To
	require.NoError(t, session.(provider.Reader).MarkRead(t.Context(), to, id))
	require.True(t, fake.Read(id))
	require.NoError(t, session.(provider.Typist).Typing(t.Context(), to, id))
	last := fake.Requests()[len(fake.Requests())-1]
	require.JSONEq(t, `{"recipient":{"id":"`+maria+`"},"sender_action":"typing_on"}`, string(last.Body))
	fake.Fail(graphtest.Fault{Path: "/messages", Code: 613})
	var limited *provider.RateLimited
	require.ErrorAs(t, session.(provider.Reader).MarkRead(t.Context(), to, id), &limited)
}

// TestCheck: the token is the page's, its events are subscribed, and its end
// is told.
func TestCheck(t *testing.T) {
	t.Parallel()
	soon := fakePage()
	soon.TokenExpires = time.Now().Add(48 * time.Hour)
	fake, session := setup(t, graphtest.Options{Pages: []graphtest.Page{soon}})
	account, err := session.(provider.Checker).Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{page, "Hat Shop"}, []string{account.ID, account.Name})
	require.Len(t, account.Health, 1)
	require.Equal(t, provider.HealthWarning, account.Health[0].Level)
	require.Contains(t, fake.Pages.SubscribedFields(page), "message_echoes")

	other := fakePage()
	other.ID = "7"
	_, session = setup(t, graphtest.Options{Pages: []graphtest.Page{other}})
	_, err = session.(provider.Checker).Check(t.Context())
	require.ErrorContains(t, err, "Hat Shop (7)")

	subscribe := func(to string) error { return session.(provider.Subscriber).Subscribe(t.Context(), to) }
	var bad *provider.Invalid
	require.ErrorAs(t, subscribe("https://example.com/"), &bad)
	var auth *provider.Rejected
	require.ErrorAs(t, subscribe(""), &auth, "of another's page")
}

// TestNames: profiles, where the network shows them.
func TestNames(t *testing.T) {
	t.Parallel()
	fake, session := setup(t, graphtest.Options{})
	name := func() (provider.Contact, error) { return session.(provider.Namer).Name(t.Context(), toMaria(nil).To) }
	_, err := name()
	var refused *provider.Rejected
	require.ErrorAs(t, err, &refused)
	fake.Pages.SetProfile(maria, "María", "Paz ")
	c, err := name()
	require.NoError(t, err)
	require.Equal(t, "María Paz", c.Name)
	fake.Pages.SetProfile(maria, "", "")
	c, err = name()
	require.NoError(t, err)
	require.Empty(t, c.Name)
}

func TestClosed(t *testing.T) {
	t.Parallel()
	_, session := setup(t, graphtest.Options{})
	require.NoError(t, session.Close(t.Context()))
	var temporary *provider.Temporary
	_, err := session.(provider.Checker).Check(t.Context())
	require.ErrorAs(t, err, &temporary)
	require.ErrorAs(t, session.(provider.Subscriber).Subscribe(t.Context(), ""), &temporary)
	_, _, err = session.(provider.MediaUploader).UploadMedia(t.Context(), provider.Media{})
	require.ErrorAs(t, err, &temporary)
}
