package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// component is one part of a template as the network keeps it.
func component(text string) json.RawMessage { return json.RawMessage(text) }

// shipped is an approved template with variables by place in every part that
// may have some.
func shipped(account string) graphtest.Template {
	return graphtest.Template{
		Account: account, Name: "order_shipped", Language: "en_US", Category: "UTILITY", Status: "APPROVED", Quality: "GREEN",
		Components: []json.RawMessage{
			component(`{"type":"HEADER","format":"TEXT","text":"Order {{1}}"}`),
			component(`{"type":"BODY","text":"Hello {{1}}, it comes on {{2}}.","example":{"body_text":[["Ana","Monday"]]}}`),
			component(`{"type":"FOOTER","text":"The shop"}`),
			component(`{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Thanks"},{"type":"URL","text":"Track","url":"https://shop.example/{{1}}"}]}`),
		},
	}
}

// named is one whose variables have names.
func named(account string) graphtest.Template {
	return graphtest.Template{
		Account: account, Name: "welcome", Language: "pt_BR", Category: "MARKETING", Status: "APPROVED", Format: "NAMED",
		Components: []json.RawMessage{
			component(`{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4::x"]}}`),
			component(`{"type":"BODY","text":"Olá {{first_name}}, veja {{offer}} hoje."}`),
		},
	}
}

const (
	filledOrder = `[{"type":"header","parameters":[{"type":"text","text":"7"}]},
		{"type":"body","parameters":[{"type":"text","text":"Ana"},{"type":"text","text":"Monday"}]},
		{"type":"button","sub_type":"url","index":"1","parameters":[{"type":"text","text":"o7"}]}]`
	filledWelcome = `[{"type":"header","parameters":[{"type":"image","image":{"link":"https://shop.example/a.png"}}]},
		{"type":"body","parameters":[{"type":"text","parameter_name":"offer","text":"isto"},{"type":"text","parameter_name":"first_name","text":"Ana"}]}]`
)

func call(name, language, components string) string {
	return fmt.Sprintf(`{"name":%q,"language":{"code":%q},"components":%s}`, name, language, components)
}

// templatesSent counts the messages that the network was asked to send.
func templatesSent(g *graphtest.Server) (n int) {
	for _, r := range g.Requests() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/messages") {
			n++
		}
	}
	return n
}

// TestTemplateSends holds sends of templates against our copy, and shows that
// the network is not asked for what does not fit.
func TestTemplateSends(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{TemplatePage: 1}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		account := "90099"
		g.Templates.Put(shipped(account))
		g.Templates.Put(named(account))
		paused := shipped(account)
		paused.Name, paused.Status = "paused_one", "PAUSED"
		g.Templates.Put(paused)
		items := ana.call(t, "GET", fmt.Sprintf("/templates?reference=%d", ref), "").json(200)["items"].([]any)
		require.Len(t, items, 3, "all pages are fetched")

		preview := func(template string) answer {
			return ana.call(t, "POST", "/templates/preview", fmt.Sprintf(`{"reference":%d,"template":%s}`, ref, template))
		}
		preview(call("order_shipped", "en_US", filledOrder)).is(200, `{"text":"Hello Ana, it comes on Monday.","header":"Order 7","footer":"The shop",
			"buttons":[{"type":"QUICK_REPLY","text":"Thanks"},{"type":"URL","text":"Track","url":"https://shop.example/o7"}]}`)
		preview(call("welcome", "pt_BR", filledWelcome)).is(200, `{"text":"Olá Ana, veja isto hoje.","header":"https://shop.example/a.png"}`)

		const two = `{"type":"body","parameters":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`
		const header = `{"type":"header","parameters":[{"type":"text","text":"7"}]}`
		const link = `{"type":"button","sub_type":"url","index":1,"parameters":[{"type":"text","text":"o7"}]}`
		const image = `{"type":"header","parameters":[{"type":"image","image":{"id":"1"}}]}`
		for at, c := range map[string][]string{
			"name": {
				call("nothing", "en_US", `[]`),
				call("paused_one", "en_US", filledOrder),
			},
			"language.code": {call("order_shipped", "de", filledOrder)},
			"components": {
				`{"name":"order_shipped","language":{"code":"en_US"}}`,
				call("order_shipped", "en_US", `[`+header+`,`+link+`]`), // no body
				call("order_shipped", "en_US", `[`+header+`,`+two+`]`),  // no end of the address
				call("welcome", "pt_BR", `[{"type":"body","parameters":[{"type":"text","parameter_name":"offer","text":"a"},{"type":"text","parameter_name":"first_name","text":"b"}]}]`),
			},
			"components[1].parameters[1]": {
				call("order_shipped", "en_US", `[`+header+`,{"type":"body","parameters":[{"type":"text","text":"a"}]},`+link+`]`),
			},
			"components[1].parameters[2]": {
				call("order_shipped", "en_US", `[`+header+`,{"type":"body","parameters":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"text","text":"c"}]},`+link+`]`),
			},
			"components[0].parameters[1]": {
				call("order_shipped", "en_US", `[{"type":"header","parameters":[{"type":"text","text":"7"},{"type":"text","text":"8"}]},`+two+`,`+link+`]`),
			},
			"components[1].parameters[0].type": {
				call("order_shipped", "en_US", `[`+header+`,{"type":"body","parameters":[{"type":"image","image":{"id":"1"}},{"type":"text","text":"b"}]},`+link+`]`),
			},
			"components[2].index": {
				call("order_shipped", "en_US", `[`+header+`,`+two+`,{"type":"button","sub_type":"url","index":"2","parameters":[{"type":"text","text":"x"}]}]`),
			},
			"components[2].sub_type": {
				call("order_shipped", "en_US", `[`+header+`,`+two+`,{"type":"button","sub_type":"quick_reply","index":"1","parameters":[{"type":"payload","payload":"x"}]}]`),
			},
			"components[3]": {call("order_shipped", "en_US", `[`+header+`,`+two+`,`+link+`,`+link+`]`)},
			"components[1].parameters[0].parameter_name": {
				call("welcome", "pt_BR", `[`+image+`,{"type":"body","parameters":[{"type":"text","parameter_name":"nobody","text":"a"}]}]`),
			},
			"components[1].parameters": {
				call("welcome", "pt_BR", `[`+image+`,{"type":"body","parameters":[{"type":"text","parameter_name":"offer","text":"a"}]}]`),
			},
			"components[0].parameters[0].type": {
				call("welcome", "pt_BR", `[{"type":"header","parameters":[{"type":"video","video":{"id":"1"}}]},{"type":"body","parameters":[{"type":"text","parameter_name":"offer","text":"a"},{"type":"text","parameter_name":"first_name","text":"b"}]}]`),
			},
		} {
			for _, template := range c {
				message := `{"type":"template","template":` + template + `}`
				for _, query := range []string{"", "?dryRun=1"} {
					p := ana.call(t, "POST", "/chats/send"+query, sendBody(ref, contact, message)).problem(422, "validation")
					require.Equal(t, "body.message.template."+at, p.Errors[0].Location, "%s: %s", template, p.Errors[0].Message)
				}
				p := preview(template).problem(422, "validation")
				require.Equal(t, "body.template."+at, p.Errors[0].Location, template)
			}
		}
		require.Zero(t, templatesSent(g), "the network was not asked")

		m := ana.call(t, "POST", "/chats/send", sendBody(ref, contact, `{"type":"template","template":`+call("order_shipped", "en_US", filledOrder)+`}`)).json(200)["message"].(map[string]any)
		require.Equal(t, "SENDING", m["status"])
		require.Equal(t, "Order 7\nHello Ana, it comes on Monday.\nThe shop", m["text"])
		ana.call(t, "POST", "/chats/send", sendBody(ref, contact, `{"type":"template","template":`+call("welcome", "pt_BR", filledWelcome)+`}`)).json(200)
		require.Equal(t, 2, templatesSent(g))
	})
}

// TestTemplates makes, lists, reviews and deletes templates.
func TestTemplates(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		list := func(query string) []any {
			return ana.call(t, "GET", fmt.Sprintf("/templates?reference=%d%s", ref, query), "").json(200)["items"].([]any)
		}
		require.Empty(t, list(""))
		const body = `[{"type":"BODY","text":"Hello {{1}}!","example":{"body_text":[["Ana"]]}}]`
		create := func(name, language string) answer {
			return ana.call(t, "POST", "/templates", fmt.Sprintf(
				`{"reference":%d,"name":%q,"category":"UTILITY","language":%q,"components":%s}`, ref, name, language, body))
		}
		made := create("hello", "en_US").is(201, fmt.Sprintf(`{"id":"<text>","reference":%d,"name":"hello","category":"UTILITY","language":"en_US",
			"components":[{"type":"BODY","text":"Hello {{1}}!","example":{"body_text":[["Ana"]]}}],
			"status":"PENDING","providerStatus":"PENDING","reason":null,"quality":null,"updatedAt":"<now>"}`, ref))
		create("hello", "de").json(201)
		create("other", "de").json(201)
		p := create("hello", "en_US").problem(502, "provider_error")
		require.Contains(t, p.Detail, "already exists")
		p = create("Not a name", "en_US").problem(422, "validation")
		require.Equal(t, "body.name", p.Errors[0].Location)
		require.Len(t, list(""), 3)
		require.Len(t, list("&name=hello"), 2)
		require.Empty(t, list("&status=APPROVED"))

		// The network's word comes by callback.
		require.NoError(t, g.Templates.Review(t.Context(), made["id"].(string), "APPROVED", ""))
		ana.until(t, func() bool { return len(list("&status=APPROVED")) == 1 })
		for word, status := range map[string]string{"PAUSED": "DISABLED", "REJECTED": "REJECTED", "IN_APPEAL": "PENDING", "FLAGGED": "APPROVED"} {
			require.NoError(t, g.Templates.Review(t.Context(), made["id"].(string), word, "ABUSIVE_CONTENT"))
			ana.until(t, func() bool {
				got := list("&name=hello")[0].(map[string]any)
				return got["providerStatus"] == word && got["status"] == status && got["reason"] == "ABUSIVE_CONTENT"
			}, word)
		}
		require.NoError(t, g.PostAccountChange(t.Context(), "900", "message_template_quality_update", map[string]any{
			"previous_quality_score": "UNKNOWN", "new_quality_score": "RED", "message_template_id": json.Number(made["id"].(string)),
			"message_template_name": "hello", "message_template_language": "en_US",
		}))
		ana.until(t, func() bool { return list("&name=hello")[0].(map[string]any)["quality"] == "RED" })

		remove := func(query string) answer {
			return ana.call(t, "DELETE", fmt.Sprintf("/templates?reference=%d&%s", ref, query), "")
		}
		remove("name=hello&language=de").is(200, `{"success":true}`)
		require.Len(t, list(""), 2)
		remove("name=hello&language=de").problem(404, "not_found")
		remove("name=nothing").problem(404, "not_found")
		remove("name=hello").is(200, `{"success":true}`)
		require.Len(t, list(""), 1)
		require.Len(t, g.Templates.List("90099"), 1)
	})
}

// TestTemplateCopy shows when the copy is fetched: at a session's start, for
// what the network changed elsewhere, and when it says that there is no such
// template.
func TestTemplateCopy(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		number := cloudNumber("900")
		number.Templates = []string{"hello/en_US"}
		cloudNumberTest(t, db, number, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
			fetched := func() (n int) {
				for _, r := range g.Requests() {
					if r.Method == http.MethodGet && strings.Contains(r.Path, "/message_templates") {
						n++
					}
				}
				return n
			}
			send := func(query, name string) answer {
				return ana.call(t, "POST", "/chats/send"+query, sendBody(ref, contact, `{"type":"template","template":`+call(name, "en_US", "[]")+`}`))
			}
			p := send("", "nothing").problem(502, "provider_error")
			require.Contains(t, p.Detail, "132001", "without a copy the network has the word")
			ana.until(t, func() bool { return send("?dryRun=1", "nothing").Code == 422 }, "and the copy is fetched")
			require.Equal(t, 1, fetched())
			send("", "nothing").problem(422, "validation")

			g.Templates.Put(graphtest.Template{
				Account: "90099", Name: "hello", Language: "en_US", Category: "UTILITY", Status: "APPROVED",
				Components: []json.RawMessage{component(`{"type":"BODY","text":"Hello"}`)},
			})
			send("", "hello").problem(422, "validation")
			ana.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
			ana.until(t, func() bool { return send("?dryRun=1", "hello").Code == 200 })
			send("", "hello").json(200)
			require.Equal(t, 2, fetched())

			id := g.Templates.Put(graphtest.Template{
				Account: "90099", Name: "late", Language: "en_US", Category: "UTILITY", Status: "PENDING",
				Components: []json.RawMessage{component(`{"type":"BODY","text":"Late"}`)},
			})
			require.NoError(t, g.Templates.Review(t.Context(), id, "APPROVED", ""))
			ana.until(t, func() bool {
				return len(ana.call(t, "GET", fmt.Sprintf("/templates?reference=%d&name=late", ref), "").json(200)["items"].([]any)) == 1
			}, "one that is not in the copy is looked for")
		})
	})
}

// TestTemplatesElsewhere asks references that have none, references of others, and
// callers who may not.
func TestTemplatesElsewhere(t *testing.T) {
	t.Parallel()
	f := working(t, setup(t, nil))
	ana, ben := f.as(t, "ana"), f.as(t, "ben")
	ref := ana.reference(t, pageReference(messengerPage()))
	for _, c := range [][3]string{
		{"GET", "/templates?reference=%d", ""},
		{"DELETE", "/templates?reference=%d&name=a", ""},
		{"POST", "/templates", `{"reference":%d,"name":"a","category":"UTILITY","language":"en","components":[]}`},
		{"POST", "/templates/preview", `{"reference":%d,"template":{"name":"a","language":{"code":"en"}}}`},
	} {
		path, body := c[1], c[2]
		if body == "" {
			path = fmt.Sprintf(path, ref)
		} else {
			body = fmt.Sprintf(body, ref)
		}
		ana.call(t, c[0], path, body).problem(422, "unsupported")
		ben.call(t, c[0], path, body).problem(404, "not_found")
	}
}

// TestTemplateRefused_NamesAll names all that is wrong with a template at once.
func TestTemplateRefused_NamesAll(t *testing.T) {
	t.Parallel()
	l := cloudNumber("881")
	g := startGraph(t, &graphOptions{Numbers: []graphtest.Number{l}})
	f := setup(t, func(c *server.Config) { c.GraphURL = g.URL })
	ana := f.as(t, "ana")
	ref := ana.reference(t, reference(l))
	p := ana.call(t, "POST", "/templates", fmt.Sprintf(`{"reference":%d,"name":"No Blanks","category":"SPAM","language":"en_US","components":[
		{"type":"HEADER","format":"TEXT","text":"%s"},{"type":"BODY","text":"{{1}} first"},{"type":"BUTTONS","buttons":[{"type":"URL","text":"x"}]}]}`,
		ref, strings.Repeat("x", 61))).problem(422, "validation")
	require.ElementsMatch(t, []string{
		"body.name", "body.category", "body.components[0].text", "body.components[1].text", "body.components[1].example", "body.components[2].buttons[0].url",
	}, locations(p))
}
