package cloud_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

func choices(n int) []provider.Choice {
	out := make([]provider.Choice, n)
	for i := range out {
		out[i] = provider.Choice{ID: fmt.Sprint("id", i), Title: fmt.Sprint("Title ", i)}
	}
	return out
}

func sections(rows ...[]provider.Choice) []provider.Section {
	var out []provider.Section
	for i, r := range rows {
		out = append(out, provider.Section{Title: fmt.Sprint("Section ", i), Rows: r})
	}
	return out
}

func letters(n int) string { return strings.Repeat("é", n) }

// TestLimits: at the limit it may be sent, beyond it the member is named.
func TestLimits(t *testing.T) {
	t.Parallel()
	one := choices(1)
	image := func(m provider.Media) provider.Media {
		m.Kind = provider.Image
		if m.ID == "" && m.StoredID == "" && m.URL == "" {
			m.ID = "1"
		}
		return m
	}
	row := func(c provider.Choice) provider.List {
		return provider.List{Text: "?", Button: "Go", Sections: sections([]provider.Choice{c})}
	}
	raw := func(s string) provider.Interactive { return provider.Interactive{Interactive: json.RawMessage(s)} }
	button := func(c provider.Choice) provider.Buttons {
		return provider.Buttons{Text: "?", Buttons: []provider.Choice{c}}
	}
	card := func(n provider.CardName) provider.Contacts {
		return provider.Contacts{Contacts: []provider.Card{{Name: n}}}
	}
	for field, c := range map[string]struct{ good, bad []provider.Content }{
		"message.text": {
			[]provider.Content{
				provider.Text{Text: letters(4096)},
				provider.Buttons{Text: letters(1024), Buttons: one},
				provider.List{Text: letters(1024), Button: "Go", Sections: sections(one)},
			},
			[]provider.Content{
				provider.Text{},
				provider.Text{Text: letters(4097)},
				provider.Buttons{Text: letters(1025), Buttons: one},
				provider.Buttons{Buttons: one},
				provider.List{Text: letters(1025), Button: "Go", Sections: sections(one)},
			},
		},
		"message.caption": {
			[]provider.Content{image(provider.Media{Caption: letters(1024)})},
			[]provider.Content{
				image(provider.Media{Caption: letters(1025)}),
				provider.Media{Kind: provider.Audio, ID: "1", Caption: "x"},
				provider.Media{Kind: provider.Sticker, ID: "1", Caption: "x"},
			},
		},
		"message.url": {
			[]provider.Content{image(provider.Media{URL: "http://a.example/x"}), image(provider.Media{StoredID: "7"})},
			[]provider.Content{provider.Media{Kind: provider.Image}, image(provider.Media{URL: "a.png"}), image(provider.Media{URL: "ftp://a/b"})},
		},
		"message.voice": {
			[]provider.Content{provider.Media{Kind: provider.Audio, ID: "1", Voice: true}},
			[]provider.Content{image(provider.Media{Voice: true})},
		},
		"message.mimeType": {
			[]provider.Content{image(provider.Media{File: provider.File{MIME: "image/png"}})},
			[]provider.Content{image(provider.Media{File: provider.File{MIME: "image/gif"}})},
		},
		"message.mediaId": {
			[]provider.Content{image(provider.Media{File: provider.File{Size: 5 << 20}})},
			[]provider.Content{image(provider.Media{File: provider.File{Size: 5<<20 + 1}})},
		},
		"message.buttons": {
			[]provider.Content{provider.Buttons{Text: "?", Buttons: choices(3)}},
			[]provider.Content{provider.Buttons{Text: "?"}, provider.Buttons{Text: "?", Buttons: choices(4)}},
		},
		"message.buttons[0].title": {
			[]provider.Content{button(provider.Choice{ID: "1", Title: letters(20)})},
			[]provider.Content{button(provider.Choice{ID: "1", Title: letters(21)}), button(provider.Choice{ID: "1"})},
		},
		"message.buttons[0].id": {
			[]provider.Content{button(provider.Choice{ID: letters(256), Title: "x"})},
			[]provider.Content{button(provider.Choice{ID: letters(257), Title: "x"}), button(provider.Choice{Title: "x"})},
		},
		"message.buttons[1].id": {
			nil, []provider.Content{provider.Buttons{Text: "?", Buttons: []provider.Choice{{ID: "1", Title: "a"}, {ID: "1", Title: "b"}}}},
		},
		"message.buttons[1].title": {
			nil, []provider.Content{provider.Buttons{Text: "?", Buttons: []provider.Choice{{ID: "1", Title: "a"}, {ID: "2", Title: "a"}}}},
		},
		"message.button": {
			[]provider.Content{provider.List{Text: "?", Button: letters(20), Sections: sections(one)}},
			[]provider.Content{provider.List{Text: "?", Button: letters(21), Sections: sections(one)}, provider.List{Text: "?", Sections: sections(one)}},
		},
		"message.sections": {
			[]provider.Content{provider.List{Text: "?", Button: "Go", Sections: sections(choices(10))}},
			[]provider.Content{provider.List{Text: "?", Button: "Go"}, provider.List{Text: "?", Button: "Go", Sections: sections(choices(11))}},
		},
		"message.sections[1].title": {
			nil, []provider.Content{provider.List{Text: "?", Button: "Go", Sections: []provider.Section{{Title: "a", Rows: choices(1)}, {Rows: choices(1)}}}},
		},
		"message.sections[0].title": {
			nil, []provider.Content{provider.List{Text: "?", Button: "Go", Sections: []provider.Section{{Title: letters(25), Rows: one}}}},
		},
		"message.sections[0].rows": {nil, []provider.Content{provider.List{Text: "?", Button: "Go", Sections: sections(nil)}}},
		"message.sections[0].rows[0].title": {
			[]provider.Content{row(provider.Choice{ID: "1", Title: letters(24)})},
			[]provider.Content{row(provider.Choice{ID: "1", Title: letters(25)}), row(provider.Choice{ID: "1"})},
		},
		"message.sections[0].rows[0].description": {
			[]provider.Content{row(provider.Choice{ID: "1", Title: "x", Description: letters(72)})},
			[]provider.Content{row(provider.Choice{ID: "1", Title: "x", Description: letters(73)})},
		},
		"message.sections[0].rows[0].id": {
			[]provider.Content{row(provider.Choice{ID: letters(200), Title: "x"})},
			[]provider.Content{row(provider.Choice{ID: letters(201), Title: "x"})},
		},
		"message.sections[1].rows[0].id": {nil, []provider.Content{provider.List{Text: "?", Button: "Go", Sections: sections(one, one)}}},
		"message.latitude":               {[]provider.Content{provider.Location{Latitude: -90, Longitude: 180}}, []provider.Content{provider.Location{Latitude: 91}}},
		"message.longitude":              {nil, []provider.Content{provider.Location{Longitude: -180.5}}},
		"message.messageId":              {[]provider.Content{provider.Reaction{MessageID: "x"}}, []provider.Content{provider.Reaction{Emoji: "👍"}}},
		"message.contacts":               {nil, []provider.Content{provider.Contacts{}, provider.Contacts{Contacts: make([]provider.Card, 258)}}},
		"message.contacts[0].name": {
			[]provider.Content{card(provider.CardName{Formatted: "A", Suffix: "A"})}, []provider.Content{card(provider.CardName{Formatted: "A"})},
		},
		"message.contacts[0].name.formattedName": {nil, []provider.Content{card(provider.CardName{First: "A"})}},
		"message.template.name":                  {[]provider.Content{templated(letters(512), "en")}, []provider.Content{templated("", "en"), templated(letters(513), "en")}},
		"message.template.language.code":         {nil, []provider.Content{templated("hi", "")}},
		"message.template.components[1]":         {nil, []provider.Content{templated("hi", "en", `{"type":"body"}`, `[]`), templated("hi", "en", `{"type":"body"}`, `{`)}},
		"message.template.components[0].type":    {nil, []provider.Content{templated("hi", "en", `{}`)}},
		"message.template.components[0].index": {
			[]provider.Content{templated("hi", "en", `{"type":"button","sub_type":"url","index":0,"unknown":1}`), templated("hi", "en", `{"type":"button","sub_type":"url","index":"9"}`)},
			[]provider.Content{templated("hi", "en", `{"type":"button","sub_type":"url"}`), templated("hi", "en", `{"type":"button","sub_type":"url","index":10}`)},
		},
		"message.template.components[0].parameters[1].text": {
			[]provider.Content{templated("hi", "en", `{"type":"body","parameters":[{"type":"text","text":"a    b"}]}`)},
			[]provider.Content{
				templated("hi", "en", `{"type":"body","parameters":[{"type":"text","text":"a"},{"type":"text","text":"a\nb"}]}`),
				templated("hi", "en", `{"type":"body","parameters":[{"type":"text","text":"a"},{"type":"text","text":"a     b"}]}`),
				templated("hi", "en", `{"type":"body","parameters":[{"type":"text","text":"a"},{"type":"text"}]}`),
			},
		},
		"message.template.components[0].parameters[0].coupon_code": {
			nil, []provider.Content{templated("hi", "en", `{"type":"button","sub_type":"copy_code","index":"0","parameters":[{"type":"coupon_code","coupon_code":"1234567890123456"}]}`)},
		},
		"message.template.components[0].parameters[0].image": {
			nil, []provider.Content{templated("hi", "en", `{"type":"header","parameters":[{"type":"image","image":{}}]}`)},
		},
		"message.interactive": {nil, []provider.Content{raw(`7`), raw(``), raw(`{"header":7}`)}},
		"message.interactive.action.buttons[0].reply.title": {
			[]provider.Content{raw(`{"type":"button","body":{"text":"?"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"x"}}]}}`)},
			[]provider.Content{raw(`{"type":"button","body":{"text":"?"},"action":{"buttons":[{"type":"reply","reply":{"id":"1"}}]}}`)},
		},
		"message.interactive.header.text": {
			[]provider.Content{raw(`{"type":"new_kind","header":{"type":"text","text":"x"},"body":{"text":"?"},"action":{"any":[1]}}`)},
			[]provider.Content{raw(`{"type":"new_kind","header":{"type":"text","text":"` + letters(61) + `"},"body":{"text":"?"},"action":{}}`)},
		},
		"message.interactive.footer.text": {nil, []provider.Content{raw(`{"type":"new_kind","body":{"text":"?"},"footer":{"text":"` + letters(61) + `"},"action":{}}`)}},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			p := cloud.New(nil)
			for _, content := range c.good {
				require.NoError(t, p.Validate(content), "%.100v", content)
			}
			for _, content := range c.bad {
				var invalid *provider.Invalid
				require.ErrorAs(t, p.Validate(content), &invalid, "%.100v", content)
				require.Equal(t, field, invalid.Field)
				require.Regexp(t, `^(must|cannot|stands|of type|is for) `, invalid.Message)
			}
		})
	}
}

// TestNothingIsAskedForWhatIsRefused: limits are found before any call.
func TestNothingIsAskedForWhatIsRefused(t *testing.T) {
	t.Parallel()
	fake, p, session := setup(t, graphtest.Options{})
	c, err := p.Client(settings())
	require.NoError(t, err)
	text := cloud.Text{Text: "x"}
	for field, call := range map[string]func() error{
		"message.text": func() error {
			_, err := session.Send(t.Context(), provider.Outbound{To: ana, Content: provider.Text{Text: letters(4097)}})
			return err
		},
		"to": func() error { _, err := c.Send(t.Context(), cloud.Message{To: "../x", Body: text}); return err },
		"recipient": func() error {
			_, err := c.Send(t.Context(), cloud.Message{Recipient: "ana", Body: text})
			return err
		},
		"message": func() error { _, err := c.Send(t.Context(), cloud.Message{To: us}); return err },
		"message.type": func() error {
			_, err := c.SendMarketing(t.Context(), cloud.Message{To: us, Body: text}, cloud.Marketing{})
			return err
		},
		"message.interactive.header": func() error {
			_, err := c.Send(t.Context(), cloud.Message{To: us, Body: cloud.Interactive{Body: "x", Action: cloud.ProductList{
				CatalogID: "1", Sections: []cloud.ProductSection{{Products: []string{"1"}}},
			}}})
			return err
		},
		"message.interactive.action.parameters.flow_cta": func() error {
			_, err := c.Send(t.Context(), cloud.Message{To: us, Body: cloud.Interactive{Body: "x", Action: cloud.Flow{ID: "1", Text: letters(31)}}})
			return err
		},
		"message.interactive.action.parameters.display_text": func() error {
			_, err := c.Send(t.Context(), cloud.Message{To: us, Body: cloud.Interactive{Body: "x", Action: cloud.LinkButton{Text: letters(21), URL: "https://a.b"}}})
			return err
		},
		"message.interactive.action.sections": func() error {
			_, err := c.Send(t.Context(), cloud.Message{To: us, Body: cloud.Interactive{Header: &cloud.Header{Text: "x"}, Body: "x", Action: cloud.ProductList{
				CatalogID: "1", Sections: []cloud.ProductSection{{Products: strings.Split(strings.Repeat("1,", 30)+"1", ",")}},
			}}})
			return err
		},
		"pin":         func() error { return c.Register(t.Context(), cloud.Registration{PIN: "12345"}) },
		"about":       func() error { return c.SetProfile(t.Context(), cloud.Profile{About: letters(140)}) },
		"websites":    func() error { return c.SetProfile(t.Context(), cloud.Profile{Websites: []string{"a", "b", "c"}}) },
		"callbackUrl": func() error { return c.SetCallback(t.Context(), "https://a.b/"+strings.Repeat("x", 200), "x") },
	} {
		var invalid *provider.Invalid
		require.ErrorAs(t, call(), &invalid, field)
		require.Equal(t, field, invalid.Field)
	}
	require.Empty(t, fake.Requests())
}
