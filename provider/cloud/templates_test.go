package cloud_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

func definition(name, language, body string) provider.TemplateDefinition {
	return provider.TemplateDefinition{
		Name: name, Language: language, Category: "UTILITY",
		Components: []json.RawMessage{json.RawMessage(`{"type":"BODY","text":` + jsonText(body) + `,"later":{"a":1}}`)},
	}
}

// everyTemplate lists all pages.
func everyTemplate(t *testing.T, m provider.TemplateManager) (list []provider.TemplateInfo, pages int) {
	t.Helper()
	for cursor := ""; ; {
		page, next, err := m.Templates(t.Context(), cursor)
		require.NoError(t, err)
		list = append(list, page...)
		pages++
		if next == "" {
			return list, pages
		}
		cursor = next
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	var posted []byte
	callback := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		posted, _ = io.ReadAll(r.Body)
	}))
	t.Cleanup(callback.Close)
	fake, p, session := setup(t, graphtest.Options{TemplatePage: 2, Callback: callback.URL})
	m := session.(provider.TemplateManager)
	list, pages := everyTemplate(t, m)
	require.Empty(t, list)
	require.Equal(t, 1, pages)

	named := definition("order_shipped", "en_US", "Hello {{name}}!")
	named.ParameterFormat = "named"
	named.Components[0] = json.RawMessage(`{"type":"BODY","text":"Hello {{name}}!","example":{"body_text_named_params":[{"param_name":"name","example":"Ana"}]}}`)
	created, err := m.CreateTemplate(t.Context(), named)
	require.NoError(t, err)
	require.Equal(t, provider.TemplateInfo{TemplateDefinition: named, ID: created.ID, Status: provider.TemplatePending, ProviderStatus: "PENDING"}, created)
	for _, d := range []provider.TemplateDefinition{
		definition("order_shipped", "de", "Hallo!"), definition("order_shipped_2", "de", "Hallo!"),
		definition("welcome", "en_US", "Welcome"), definition("welcome", "de", "Willkommen"),
	} {
		_, err := m.CreateTemplate(t.Context(), d)
		require.NoError(t, err)
	}
	_, err = m.CreateTemplate(t.Context(), definition("welcome", "de", "Willkommen"))
	var rejected *provider.Rejected
	require.ErrorAs(t, err, &rejected)
	require.Equal(t, "A template with this name exists in this language. Choose another name.", rejected.Advice)

	list, pages = everyTemplate(t, m)
	require.Len(t, list, 5)
	require.Equal(t, 3, pages)
	require.Equal(t, "named", list[0].ParameterFormat)
	require.JSONEq(t, string(named.Components[0]), string(list[0].Components[0]))
	require.JSONEq(t, `{"type":"BODY","text":"Hallo!","later":{"a":1}}`, string(list[1].Components[0]), "members that we do not know are kept")

	// What Meta decides shows in the list and comes as a callback.
	require.NoError(t, fake.Templates.Review(t.Context(), created.ID, "REJECTED", "TAG_CONTENT_MISMATCH"))
	require.NoError(t, fake.Templates.Review(t.Context(), list[1].ID, "PAUSED", ""))
	list, _ = everyTemplate(t, m)
	require.Equal(t, provider.TemplateRejected, list[0].Status)
	require.Equal(t, "TAG_CONTENT_MISMATCH", list[0].Reason)
	require.Equal(t, []string{string(provider.TemplateDisabled), "PAUSED", ""}, []string{string(list[1].Status), list[1].ProviderStatus, list[1].Reason})
	parts, err := p.Route(posted)
	require.NoError(t, err)
	require.Equal(t, accountID, parts[0].Group)
	events, bad := p.Parse(parts[0])
	require.Empty(t, bad)
	change := events[0].(*provider.TemplateChange)
	require.Equal(t, []string{list[1].ID, "order_shipped", "de", "PAUSED"}, []string{change.TemplateID, change.Name, change.Language, change.Status})

	// By language, where the name is a part of another's; then by name.
	require.NoError(t, m.DeleteTemplate(t.Context(), "order_shipped", "de"))
	require.NoError(t, m.DeleteTemplate(t.Context(), "welcome", ""))
	list, _ = everyTemplate(t, m)
	require.Len(t, list, 2)
	require.Equal(t, []string{"order_shipped", "en_US", "order_shipped_2", "de"}, []string{list[0].Name, list[0].Language, list[1].Name, list[1].Language})
	require.ErrorAs(t, m.DeleteTemplate(t.Context(), "order_shipped", "fr"), &rejected)
	require.ErrorAs(t, m.DeleteTemplate(t.Context(), "nothing", ""), &rejected)
	for _, r := range fake.Requests() {
		require.NotContains(t, r.Path, "access_token")
	}
}

func TestTemplateRules(t *testing.T) {
	t.Parallel()
	fake, _, session := setup(t, graphtest.Options{})
	m := session.(provider.TemplateManager)
	good := func() provider.TemplateDefinition { return definition("a", "en", "Hello") }
	with := func(components ...string) provider.TemplateDefinition {
		d := good()
		for _, c := range components {
			d.Components = append(d.Components, json.RawMessage(c))
		}
		return d
	}
	body := func(c string) provider.TemplateDefinition {
		d := good()
		d.Components[0] = json.RawMessage(c)
		return d
	}
	change := func(fn func(d *provider.TemplateDefinition)) provider.TemplateDefinition {
		d := good()
		fn(&d)
		return d
	}
	buttons := func(kind string, n int) string {
		return `{"type":"BUTTONS","buttons":[` + strings.TrimSuffix(strings.Repeat(kind+",", n), ",") + `]}`
	}
	quick, link, phone := `{"type":"QUICK_REPLY","text":"x"}`, `{"type":"URL","text":"x","url":"https://a.b"}`, `{"type":"PHONE_NUMBER","text":"x","phone_number":"1"}`
	for field, bad := range map[string][]provider.TemplateDefinition{
		"name": {
			change(func(d *provider.TemplateDefinition) { d.Name = "Upper" }), change(func(d *provider.TemplateDefinition) { d.Name = "" }),
			change(func(d *provider.TemplateDefinition) { d.Name = strings.Repeat("x", 513) }),
		},
		"language":                            {change(func(d *provider.TemplateDefinition) { d.Language = "" })},
		"category":                            {change(func(d *provider.TemplateDefinition) { d.Category = "OTP" })},
		"parameterFormat":                     {change(func(d *provider.TemplateDefinition) { d.ParameterFormat = "x" })},
		"components":                          {change(func(d *provider.TemplateDefinition) { d.Components = nil }), body(`{"type":"FOOTER","text":"x"}`)},
		"components[0]":                       {body(`7`), body(`{"type":[]}`)},
		"components[0].type":                  {body(`{}`)},
		"components[1].type":                  {with(`{"type":"body","text":"twice"}`)},
		"components[0].text":                  {body(`{"type":"BODY"}`), body(`{"type":"BODY","text":"` + letters(1025) + `"}`), body(`{"type":"BODY","text":"{{1}} x"}`), body(`{"type":"BODY","text":"x {{1}} "}`)},
		"components[1].text":                  {with(`{"type":"HEADER","format":"TEXT","text":"` + letters(61) + `"}`), with(`{"type":"HEADER","format":"TEXT","text":"{{1}} {{2}}"}`), with(`{"type":"FOOTER","text":"` + letters(61) + `"}`), with(`{"type":"FOOTER","text":"a {{1}}"}`)},
		"components[1].format":                {with(`{"type":"HEADER"}`)},
		"components[0].example":               {body(`{"type":"BODY","text":"x {{1}} y"}`)},
		"components[1].example":               {with(`{"type":"HEADER","format":"TEXT","text":"x {{1}}"}`)},
		"components[1].example.header_handle": {with(`{"type":"HEADER","format":"IMAGE"}`)},
		"components[1].cards[0].components[1].text": {
			with(`{"type":"CAROUSEL","cards":[{"components":[{"type":"BODY","text":"x"},{"type":"FOOTER","text":"{{1}}"}]}]}`),
		},
		"components[1].buttons": {
			with(buttons(quick, 11)), with(`{"type":"BUTTONS"}`), with(buttons(link, 3)), with(buttons(phone, 2)),
		},
		"components[1].buttons[0].text":         {with(`{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"` + letters(26) + `"}]}`)},
		"components[1].buttons[0].type":         {with(`{"type":"BUTTONS","buttons":[{"text":"x"}]}`)},
		"components[1].buttons[0].url":          {with(`{"type":"BUTTONS","buttons":[{"type":"URL","text":"x","url":"https://a.b/{{1}}/x"}]}`), with(`{"type":"BUTTONS","buttons":[{"type":"URL","text":"x"}]}`)},
		"components[1].buttons[0].example":      {with(`{"type":"BUTTONS","buttons":[{"type":"URL","text":"x","url":"https://a.b/{{1}}"}]}`)},
		"components[1].buttons[0].phone_number": {with(`{"type":"BUTTONS","buttons":[{"type":"PHONE_NUMBER","text":"x","phone_number":"123456789012345678901"}]}`)},
	} {
		for _, d := range bad {
			_, err := m.CreateTemplate(t.Context(), d)
			var invalid *provider.Invalid
			require.ErrorAs(t, err, &invalid, "%s: %s", field, d.Components)
			require.Equal(t, field, invalid.Field)
		}
	}
	require.Empty(t, fake.Requests())
	_, err := m.CreateTemplate(t.Context(), with(buttons(quick, 10)))
	require.NoError(t, err)
}

func TestTemplateStatuses(t *testing.T) {
	t.Parallel()
	for want, words := range map[provider.TemplateStatus][]string{
		provider.TemplatePending:  {"PENDING", "IN_APPEAL"},
		provider.TemplateApproved: {"APPROVED", "REINSTATED", "UNARCHIVED", "UNLOCKED", "FLAGGED"},
		provider.TemplateRejected: {"REJECTED"},
		provider.TemplateDisabled: {"DISABLED", "PAUSED", "LIMIT_EXCEEDED", "LOCKED", "ARCHIVED", "PENDING_DELETION", "DELETED", "", "NEW_WORD"},
	} {
		for _, word := range words {
			require.Equal(t, want, provider.TemplateStatusOf(word), word)
		}
	}
}
