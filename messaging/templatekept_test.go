package messaging_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

func sandboxTemplate(name, language string) provider.TemplateDefinition {
	return provider.TemplateDefinition{
		Name: name, Language: language, Category: "UTILITY",
		Components: []json.RawMessage{json.RawMessage(`{"type":"BODY","text":"Hello {{1}}!","example":{"body_text":[["Ana"]]}}`)},
	}
}

// TestTemplatesOfTheSandbox are kept here: there is no copy to be fetched.
func TestTemplatesOfTheSandbox(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		db := testkit.Open(t, url)
		f := setup(t, db, config{})
		ref, other := f.reference(t, sandbox.Kind), f.reference(t, sandbox.Kind)
		send := func(f *fixture, ref provider.ReferenceID, call provider.TemplateCall) error {
			_, err := f.acc.Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: "ana", Content: provider.Template{Template: call}, Wait: timeout})
			return err
		}
		hello := provider.TemplateCall{Name: "hello", Language: provider.TemplateLanguage{Code: "en"}, Components: []json.RawMessage{
			json.RawMessage(`{"type":"body","parameters":[{"type":"text","text":"Ben"}]}`),
		}}
		requireInvalid(t, send(f, ref, hello), "message.template.name")
		for name, status := range map[string]string{"hello": "APPROVED", "rejected_x": "REJECTED", "pending_x": "PENDING", "paused_x": "DISABLED"} {
			made, err := f.acc.Templates().Create(t.Context(), ref, sandboxTemplate(name, "en"))
			require.NoError(t, err)
			require.Equal(t, status, made.Status)
			require.Equal(t, status == "REJECTED", made.Reason != nil)
			require.NotEmpty(t, made.ID)
			call := hello
			if call.Name = name; status != "APPROVED" {
				requireInvalid(t, send(f, ref, call), "message.template.name")
			}
		}
		_, err := f.acc.Templates().Create(t.Context(), ref, provider.TemplateDefinition{Name: "Hello"})
		requireInvalid(t, err, "name")
		require.NoError(t, send(f, ref, hello))
		require.Equal(t, "Hello Ben!", f.messages(t, ref, "ana")[0].Text)
		requireInvalid(t, send(f, other, hello), "message.template.name")

		for field, change := range map[string]func(c *provider.TemplateCall){
			"message.template.language.code":                    func(c *provider.TemplateCall) { c.Language.Code = "de" },
			"message.template.language.policy":                  func(c *provider.TemplateCall) { c.Language.Policy = "fallback" },
			"message.template.components":                       func(c *provider.TemplateCall) { c.Components = nil },
			"message.template.components[0].parameters[0].text": func(c *provider.TemplateCall) { c.Components = body(`{"type":"text"}`) },
			"message.template.components[0].parameters[1]": func(c *provider.TemplateCall) {
				c.Components = body(`{"type":"text","text":"a"},{"type":"text","text":"b"}`)
			},
			"message.template.components[0].parameters[0].type": func(c *provider.TemplateCall) { c.Components = body(`{"type":"payload","payload":"a"}`) },
			"message.template.components[0]":                    func(c *provider.TemplateCall) { c.Components = []json.RawMessage{json.RawMessage(`7`)} },
		} {
			call := hello
			change(&call)
			requireInvalid(t, send(f, ref, call), field)
			_, err := f.acc.Templates().Preview(t.Context(), ref, call)
			requireInvalid(t, err, field[len("message."):])
		}
		hello.Language.Policy = "deterministic"
		require.NoError(t, send(f, ref, hello))
		shown, err := f.acc.Templates().Preview(t.Context(), ref, hello)
		require.NoError(t, err)
		require.Equal(t, "Hello Ben!", shown.Text)

		// Another node, and a later process, has the same.
		next := successor(t, testkit.Open(t, url), f)
		require.Len(t, next.statuses(t, ref), 4)
		require.NoError(t, send(next, ref, hello))
		require.ErrorIs(t, next.acc.Templates().Delete(t.Context(), ref, "hello", "de"), messaging.ErrNotFound)
		require.NoError(t, next.acc.Templates().Delete(t.Context(), ref, "hello", ""))
		require.ErrorIs(t, next.acc.Templates().Delete(t.Context(), ref, "hello", ""), messaging.ErrNotFound)
		requireInvalid(t, send(f, ref, hello), "message.template.name")
	})
}

func body(parameters string) []json.RawMessage {
	return []json.RawMessage{json.RawMessage(`{"type":"body","parameters":[` + parameters + `]}`)}
}

// TestOneOfSeveralTemplates is made when many are handed in under one name.
func TestOneOfSeveralTemplates(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, sandbox.Kind)
		made, refused := make(chan string, 8), make(chan error, 8)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				d := sandboxTemplate("hello", "en")
				d.Components[0] = json.RawMessage(fmt.Sprintf(`{"type":"BODY","text":"Hello %d"}`, i))
				tpl, err := f.acc.Templates().Create(t.Context(), ref, d)
				if err != nil {
					refused <- err
					return
				}
				made <- tpl.ID
			})
		}
		all.Wait()
		require.Len(t, made, 1)
		require.Len(t, refused, 7)
		var why *messaging.Error
		require.ErrorAs(t, <-refused, &why)
		require.Equal(t, messaging.CodeProvider, why.Code)
		p, err := f.acc.Templates().List(t.Context(), ref, messaging.TemplateFilter{}, messaging.List{})
		require.NoError(t, err)
		require.Equal(t, <-made, p.Items[0].ID)
	})
}
