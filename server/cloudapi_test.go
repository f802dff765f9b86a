package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server/auth"
)

// metaMessage is a request to send, with members of a message.
func metaMessage(to, members string) string {
	return fmt.Sprintf(`{"messaging_product":"whatsapp","recipient_type":"individual","to":%q,%s}`, to, members)
}

// metaError is what Meta's programs read of an error.
type metaError struct {
	Error struct {
		Code    int
		Subcode int `json:"error_subcode"`
		Type    string
		Trace   string                   `json:"fbtrace_id"`
		Data    struct{ Details string } `json:"error_data"`
	}
}

// metaFailed requires that a request failed with a code of Meta's.
func metaFailed(t *testing.T, a answer, status, code int, details string) {
	t.Helper()
	require.Equal(t, status, a.Code, a.Body.String())
	var e metaError
	require.NoError(t, json.Unmarshal(a.Body.Bytes(), &e))
	require.Equal(t, code, e.Error.Code, a.Body.String())
	require.Equal(t, "OAuthException", e.Error.Type)
	require.NotEmpty(t, e.Error.Trace)
	require.Contains(t, e.Error.Data.Details, details)
}

// TestCloudAPI sends all types of the Cloud API on a reference of another network.
func TestCloudAPI(t *testing.T) {
	t.Parallel()
	onDatabasesWithMedia(t, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		messages := fmt.Sprintf("/v23.0/%d/messages", ref)
		received := ana.write(t, ref, "16505551234", "Hello?")
		ana.call(t, "POST", "/templates", fmt.Sprintf(
			`{"reference":%d,"name":"hello_world","language":"en_US","category":"UTILITY","components":[{"type":"BODY","text":"Hello"}]}`, ref)).json(201)
		file := ana.metaUpload(t, fmt.Sprintf("/v23.0/%d/media", ref), picture(t, 2, 2)).json(200)["id"].(string)
		for name, c := range map[string]struct{ members, text string }{
			"text":     {`"type":"text","text":{"body":"Hi","preview_url":true},"context":{"message_id":"` + received + `"},"biz_opaque_callback_data":"order-1"`, "Hi"},
			"no type":  {`"text":{"body":"Plain"}`, "Plain"},
			"a NUL":    {`"text":{"body":"a\u0000b\\u0000"}`, `ab\u0000`},
			"no UTF-8": {"\"text\":{\"body\":\"a\xffb\"}", "a\ufffdb"},
			"an image": {`"type":"image","image":{"id":"` + file + `","caption":"Look"}`, "Look"},
			"location": {`"type":"location","location":{"latitude":"1.5","longitude":2,"name":"Here"}`, "Here"},
			"contacts": {`"type":"contacts","contacts":[{"name":{"formatted_name":"Bob"},"phones":[{"phone":"+1650","wa_id":"1650","type":"HOME"}]}]`, "Bob"},
			"reaction": {`"type":"reaction","reaction":{"message_id":"` + received + `","emoji":"👍"}`, "👍"},
			"template": {`"type":"template","template":{"name":"hello_world","language":{"code":"en_US"}}`, "Hello"},
			"buttons":  {`"type":"interactive","interactive":{"type":"button","header":{"type":"text","text":"Top"},"body":{"text":"Pick"},"footer":{"text":"End"},"action":{"buttons":[{"type":"reply","reply":{"id":"a","title":"One"}}]}}`, "Top\n\nPick\n\nEnd"},
			"a list":   {`"type":"interactive","interactive":{"type":"list","body":{"text":"Pick"},"action":{"button":"Open","sections":[{"title":"All","rows":[{"id":"a","title":"One","description":"first"}]}]}}`, "One"},
			"a link":   {`"type":"interactive","interactive":{"type":"cta_url","body":{"text":"See"},"action":{"name":"cta_url","parameters":{"display_text":"Open","url":"https://example.org"}}}`, "See\n\nOpen: https://example.org"},
		} {
			a := ana.call(t, "POST", messages, metaMessage("16505551234", c.members)).json(200)
			require.Equal(t, "whatsapp", a["messaging_product"], name)
			require.Equal(t, []any{map[string]any{"input": "16505551234", "wa_id": "16505551234@sandbox"}}, a["contacts"], name)
			id := a["messages"].([]any)[0].(map[string]any)["id"].(string)
			m := ana.record(t, ref, id)
			require.Contains(t, fmt.Sprint(m["text"], m["caption"]), c.text, name)
			require.Equal(t, "api", m["actor"], name)
			if name == "text" {
				require.Equal(t, "order-1", m["clientId"])
				require.Equal(t, received, m["context"].(map[string]any)["messageId"])
			}
		}
		require.Equal(t, map[string]any{"success": true}, ana.call(t, "POST", messages,
			`{"messaging_product":"whatsapp","status":"read","message_id":"`+received+`","typing_indicator":{"type":"text"}}`).json(200))
		require.EqualValues(t, 0, ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").json(200)["items"].([]any)[0].(map[string]any)["unread"])

		about := ana.call(t, "GET", "/v23.0/"+file, "").json(200)
		require.Equal(t, "image/png", about["mime_type"])
		link, err := url.Parse(about["url"].(string))
		require.NoError(t, err)
		require.Equal(t, 200, f.do(t, "GET", link.RequestURI(), "").Code)
		require.Equal(t, fmt.Sprint(ref), ana.call(t, "GET", fmt.Sprintf("/v23.0/%d", ref), "").json(200)["id"])

		first := ana.call(t, "POST", messages, metaMessage("1650", `"text":{"body":"Once"}`), "Idempotency-Key", "k").json(200)
		require.Equal(t, first, ana.call(t, "POST", messages, metaMessage("1650", `"text":{"body":"Once"}`), "Idempotency-Key", "k").json(200))
	})
}

// metaUpload posts a form as Meta's programs do.
func (c client) metaUpload(t *testing.T, path string, file []byte) answer {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	require.NoError(t, form.WriteField("messaging_product", "whatsapp"))
	w, err := form.CreateFormFile("file", "dot.png")
	require.NoError(t, err)
	_, err = w.Write(file)
	require.NoError(t, err)
	require.NoError(t, form.WriteField("type", "image/png"))
	require.NoError(t, form.Close())
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, &b)
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", form.FormDataContentType())
	out := httptest.NewRecorder()
	c.ServeHTTP(out, r)
	return answer{out, t}
}

// TestCloudAPI_Refused shows what Meta's programs are told.
func TestCloudAPI_Refused(t *testing.T) {
	t.Parallel()
	onDatabasesWithMedia(t, func(t *testing.T, f fixture) {
		ana, bob := f.as(t, "ana"), f.as(t, "bob")
		ref, other := ana.sandbox(t), ana.sandbox(t)
		messages := fmt.Sprintf("/v23.0/%d/messages", ref)
		hello := metaMessage("16505551234", `"text":{"body":"Hi"}`)
		metaFailed(t, f.do(t, "POST", messages, hello), 401, 190, "bearer token")
		metaFailed(t, client{f, "no token"}.call(t, "POST", messages, hello), 401, 190, "")
		metaFailed(t, bob.call(t, "POST", messages, hello), 400, 100, "no such reference")
		metaFailed(t, ana.call(t, "POST", "/v23.0/99999999/messages", hello), 400, 100, "no such reference")
		metaFailed(t, ana.call(t, "POST", "/v23.0/x/messages", hello), 400, 100, "no such reference")
		for body, details := range map[string]string{
			``:                                     "body must be a JSON object",
			`[]`:                                   "body must be a JSON object",
			`{"to":"1"`:                            "body must be a JSON object",
			`{"to":"1","text":{"body":"x"}}`:       "messaging_product must be",
			metaMessage("", `"text":{"body":"x"}`): "to must not be empty",
			metaMessage("1650", `"type":"text"`):   "text must be an object",
			metaMessage("1650", `"text":{"body":""}`):                                                            "text.body must not be empty",
			metaMessage("1650", `"type":"dance"`):                                                                "type must be one of",
			metaMessage("1650", `"type":"image","image":{}`):                                                     "image must have either",
			metaMessage("1650", `"type":"image","image":{"id":"none"}`):                                          "mediaId",
			metaMessage("1650", `"type":"contacts","contacts":{}`):                                               "contacts must be",
			metaMessage("1650", `"type":"location","location":{"latitude":100}`):                                 "location.longitude must be a number",
			metaMessage("1650", `"type":"reaction","reaction":{}`):                                               "reaction.message_id must not be empty",
			metaMessage("1650", `"type":"template","template":{}`):                                               "template.name must not be empty; template.language.code",
			metaMessage("1650", `"type":"interactive","interactive":{}`):                                         "interactive.type must not be empty",
			`{"messaging_product":"whatsapp","status":"seen"}`:                                                   `status must be "read"; message_id`,
			`{"messaging_product":"whatsapp","status":"read","message_id":"none"}`:                               "no such",
			metaMessage("1650", `"text":{"body":"`+strings.Repeat("x", 1<<20)+`"}`):                              "",
			metaMessage("1650", `"text":{"body":"x"},"biz_opaque_callback_data":"`+strings.Repeat("x", 129)+`"`): "clientId",
		} {
			a := ana.call(t, "POST", messages, body)
			status, code := 400, 100
			if len(body) > 1<<20 {
				status, code = 413, 131053
			}
			metaFailed(t, a, status, code, details)
		}
		narrow := client{f, ana.limitedProgram(t, []auth.Permission{auth.ChatsSend.On(int64(other))})}
		metaFailed(t, narrow.call(t, "POST", messages, hello), 400, 100, "no such reference")
		narrow.call(t, "POST", fmt.Sprintf("/v23.0/%d/messages", other), hello).json(200)
		file := ana.metaUpload(t, fmt.Sprintf("/v23.0/%d/media", ref), picture(t, 2, 2)).json(200)["id"].(string)
		metaFailed(t, narrow.call(t, "GET", "/v23.0/"+file, ""), 400, 100, "no such")
		metaFailed(t, narrow.call(t, "POST", fmt.Sprintf("/v23.0/%d/messages", other), metaMessage("1650", `"type":"image","image":{"id":"`+file+`"}`)), 400, 100, "mediaId")
		reader := client{f, ana.limitedProgram(t, []auth.Permission{auth.ChatsRead})}
		metaFailed(t, reader.call(t, "POST", messages, hello), 403, 10, "chats.send")
		metaFailed(t, ana.call(t, "POST", fmt.Sprintf("/v23.0/%d/media", ref), "{}"), 400, 131053, "multipart")
		require.Equal(t, 404, ana.call(t, "POST", fmt.Sprintf("/v23.0/%d/register", ref), "{}").Code)
	})
}

// TestCloudAPI_OfANumber sends on the reference that has a phone number id, and shows
// Meta's refusal with Meta's code.
func TestCloudAPI_OfANumber(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		metaFailed(t, ana.call(t, "POST", "/v23.0/900/messages", metaMessage(contact, `"text":{"body":"Hi"}`)), 400, 131047, "")
		in, err := g.Write(t.Context(), graphtest.Inbound{From: contact, Name: "Sheena", Text: "Hello"})
		require.NoError(t, err)
		native := `{"type":"cta_url","header":{"type":"image","image":{"link":"https://example.org/a.png"}},"body":{"text":"See"},"action":{"name":"cta_url","parameters":{"display_text":"Open","url":"https://example.org"}}}`
		a := ana.call(t, "POST", "/v23.0/900/messages", metaMessage("+"+contact, `"type":"interactive","interactive":`+native+`,"context":{"message_id":"`+in+`"}`)).json(200)
		require.Contains(t, a["messages"].([]any)[0].(map[string]any)["id"], "wamid.")
		require.Equal(t, []any{map[string]any{"input": "+" + contact, "wa_id": contact}}, a["contacts"])
		shown, err := g.WaitShown(t.Context(), contact, 1)
		require.NoError(t, err)
		require.Equal(t, in, shown[0].ReplyTo)
		require.Equal(t, "interactive", shown[0].Type)
		require.Equal(t, "900", ana.call(t, "GET", "/v23.0/900", "").json(200)["id"])

		g.Fail(graphtest.Fault{Code: 131009, Message: "Parameter value is not valid"})
		metaFailed(t, ana.call(t, "POST", "/v23.0/900/messages", metaMessage(contact, `"text":{"body":"Hi"}`)), 400, 131009, "")
	})
}
