package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server"
)

// specification reads the document as it is.
func specification(t *testing.T, f fixture) map[string]any {
	t.Helper()
	return f.do(t, "GET", "/swagger/openapi.json", "").json(200)
}

// at walks down a document.
func at(t *testing.T, v any, path ...string) any {
	t.Helper()
	for _, name := range path {
		m, ok := v.(map[string]any)
		require.True(t, ok, "%v: no object at %s", path, name)
		require.Contains(t, m, name, "%v", path)
		v = m[name]
	}
	return v
}

// TestSpecification checks the structure of the document as OpenAPI 3.1 has
// it.
func TestSpecification(t *testing.T) {
	t.Parallel()
	d := specification(t, setup(t, nil))
	require.ElementsMatch(t, []string{"openapi", "info", "servers", "tags", "paths", "webhooks", "components"}, keys(d))
	require.Equal(t, "3.1.0", d["openapi"])
	for _, name := range []string{"title", "version", "description"} {
		require.NotEmpty(t, at(t, d, "info", name))
	}
	for path, item := range d["paths"].(map[string]any) {
		require.True(t, strings.HasPrefix(path, "/"), path)
		for method, op := range item.(map[string]any) {
			require.Contains(t, []string{"get", "put", "post", "delete", "patch"}, method)
			checkOperation(t, d, method+" "+path, path, op.(map[string]any))
		}
	}
	checkReferences(t, d, d, "#")
	checkSchemas(t, d)
}

func keys(m map[string]any) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

func checkOperation(t *testing.T, d map[string]any, name, path string, op map[string]any) {
	t.Helper()
	known := []string{"operationId", "summary", "description", "tags", "parameters", "requestBody", "responses", "callbacks", "security", "x-login-only", "x-owner-only", "x-references"}
	for k := range op {
		require.Contains(t, known, k, name)
	}
	require.NotEmpty(t, op["summary"], name)
	require.NotContains(t, op["summary"], ".", name)
	inPath := []string{}
	parameters, _ := op["parameters"].([]any)
	for _, p := range parameters {
		p := p.(map[string]any)
		require.Contains(t, []string{"query", "path", "header"}, p["in"], name)
		require.Contains(t, p, "schema", name)
		if p["in"] == "path" {
			require.Equal(t, true, p["required"], name)
			inPath = append(inPath, p["name"].(string))
		}
	}
	var template []string
	for _, m := range regexp.MustCompile(`\{([^}]+)\}`).FindAllStringSubmatch(path, -1) {
		template = append(template, m[1])
	}
	require.ElementsMatch(t, template, inPath, name)
	success := 0
	for status, r := range op["responses"].(map[string]any) {
		require.Regexp(t, `^[1-5][0-9][0-9]$`, status, name)
		if ref, ok := r.(map[string]any)["$ref"].(string); ok {
			r = at(t, d, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
		require.NotEmpty(t, at(t, r, "description"), name)
		if status < "300" {
			success++
		}
		content, _ := r.(map[string]any)["content"].(map[string]any)
		for mime, c := range content {
			require.NotEmpty(t, at(t, c, "schema"), "%s %s %s", name, status, mime)
		}
	}
	require.Positive(t, success, name)
	schemes := at(t, d, "components", "securitySchemes").(map[string]any)
	for _, s := range op["security"].([]any) {
		for scheme := range s.(map[string]any) {
			require.Contains(t, schemes, scheme, name)
		}
	}
}

// checkReferences finds what every $ref points to.
func checkReferences(t *testing.T, d map[string]any, v any, where string) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			at(t, d, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
		for name, member := range v {
			checkReferences(t, d, member, where+"/"+name)
		}
	case []any:
		for i, member := range v {
			checkReferences(t, d, member, fmt.Sprintf("%s/%d", where, i))
		}
	}
}

// checkSchemas looks for members that are required and not there, and for
// schemas that nothing uses.
func checkSchemas(t *testing.T, d map[string]any) {
	t.Helper()
	text, err := json.Marshal(d)
	require.NoError(t, err)
	for name, s := range at(t, d, "components", "schemas").(map[string]any) {
		checkNumbers(t, name, s)
		require.Regexp(t, `^[A-Za-z0-9._-]+$`, name)
		require.Contains(t, string(text), `"#/components/schemas/`+name+`"`, "nothing uses %s", name)
		s := s.(map[string]any)
		required, _ := s["required"].([]any)
		for _, member := range required {
			at(t, s, "properties", member.(string))
		}
		_, typed := s["type"]
		require.True(t, typed || s["oneOf"] != nil || s["anyOf"] != nil, name)
	}
}

// checkNumbers looks for numbers of which nothing says what they count, and for
// times without a unit.
func checkNumbers(t *testing.T, schema string, s any) {
	t.Helper()
	members, _ := s.(map[string]any)["properties"].(map[string]any)
	for name, m := range members {
		m := m.(map[string]any)
		kind := fmt.Sprint(m["type"])
		if !strings.Contains(kind, "integer") && !strings.Contains(kind, "number") {
			continue
		}
		require.NotEmpty(t, m["description"], "%s.%s: see server/internal/openapi/units.go", schema, name)
		if strings.HasSuffix(name, "At") {
			require.Contains(t, m["description"], "UNIX seconds", "%s.%s", schema, name)
		}
	}
}

// TestRepetition has an entry for every POST, and none for what is not there.
func TestRepetition(t *testing.T) {
	t.Parallel()
	said, known := server.Repetition(), map[string]bool{}
	for path, methods := range document(t, setup(t, nil)).Paths {
		for method, op := range methods {
			known[op.OperationID] = true
			require.NotEmpty(t, op.Description, path)
			if method == "post" {
				require.Contains(t, said, op.OperationID, "what happens when it is sent again? See server/internal/openapi/repeats.go")
			}
		}
	}
	for id := range said {
		require.True(t, known[id], id)
	}
}

// TestSendIsDocumented shows the types of a message and both forms of the
// answer.
func TestSendIsDocumented(t *testing.T) {
	t.Parallel()
	d := specification(t, setup(t, nil))
	for _, c := range []struct {
		schema any
		types  []string
		more   []any
	}{
		{at(t, d, "components", "schemas", "SendInputBody", "properties", "message"), messaging.ContentTypes(), nil},
		{at(t, d, "paths", "/sandbox/{reference}/messages", "post", "requestBody", "content", "application/json", "schema"), messaging.IncomingTypes(), []any{"from"}},
	} {
		require.Equal(t, "type", at(t, c.schema, "discriminator", "propertyName"))
		mapping := at(t, c.schema, "discriminator", "mapping").(map[string]any)
		require.ElementsMatch(t, c.types, keys(mapping))
		require.Len(t, at(t, c.schema, "oneOf"), len(c.types))
		for name, ref := range mapping {
			s := at(t, d, strings.Split(strings.TrimPrefix(ref.(string), "#/"), "/")...)
			require.Equal(t, []any{name}, at(t, s, "properties", "type", "enum"))
			for _, member := range append(c.more, "type") {
				require.Contains(t, at(t, s, "required"), member)
			}
		}
	}
	answers := at(t, d, "paths", "/chats/send", "post", "responses", "200", "content", "application/json", "schema", "oneOf")
	require.Equal(t, []any{
		map[string]any{"$ref": "#/components/schemas/SendResult"}, map[string]any{"$ref": "#/components/schemas/MessagingSendCheck"},
	}, answers)
	at(t, d, "paths", "/chats/stream", "get", "responses", "200", "content", "text/event-stream")
}

// TestAnswersFitTheDocument asks for answers that no other test looks at. The
// answers of all tests are held to the document.
func TestAnswersFitTheDocument(t *testing.T) {
	t.Parallel()
	f := working(t, setup(t, nil))
	ana := f.as(t, "ana")
	ref, cloud := ana.sandbox(t), ana.reference(t, reference(cloudNumber("880")))
	ep := ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q}`, ref, echoURL)).json(201)["endpointId"]
	ana.write(t, ref, "ana", "Hello")
	send := sendBody(ref, "ana", `{"type":"buttons","text":"Sure?","buttons":[{"id":"y","title":"Yes"}]}`)
	ana.until(t, func() bool {
		return strings.Contains(ana.call(t, "GET", fmt.Sprintf("/sandbox/%d/echo", ref), "").Body.String(), "Hello")
	})
	for _, c := range [][3]string{
		{"GET", "/user/me", ""},
		{"GET", "/probe", ""},
		{"GET", "/reference/list", ""},
		{"GET", fmt.Sprintf("/reference/%d", cloud), ""},
		{"PATCH", fmt.Sprintf("/reference/%d", ref), `{"name":"x"}`},
		{"POST", "/reference", `{"name":"x","type":"provider-sandbox"}`},
		{"GET", fmt.Sprintf("/reference/session/status?reference=%d", ref), ""},
		{"POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, ref)},
		{"POST", "/chats/send", send},
		{"POST", "/chats/send?dryRun=1", send},
		{"POST", "/chats/send", sendBody(ref, "ana", `{"type":"location","latitude":1,"longitude":2}`)},
		{"GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=ana", ref), ""},
		{"POST", "/chats/read", fmt.Sprintf(`{"reference":%d,"chatId":"ana"}`, ref)},
		{"PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"ana","handoff":"take","language":"pt","variables":{"a":1}}`, ref)},
		{"GET", fmt.Sprintf("/chats/list?reference=%d&limit=1", ref), ""},
		{"GET", fmt.Sprintf("/sandbox/%d/messages", ref), ""},
		{"POST", fmt.Sprintf("/sandbox/%d/messages", ref), `{"from":"ben","type":"text","text":"x"}`},
		{"GET", fmt.Sprintf("/sandbox/%d/echo", ref), ""},
		{"GET", fmt.Sprintf("/references/hookconf?reference=%d", ref), ""},
		{"POST", "/references/hookconf", fmt.Sprintf(`{"id":"%d","webhook":"https://example.org/"}`, ref)},
		{"PATCH", fmt.Sprintf("/references/hookconf/%s", ep), `{"rotateSecret":true}`},
		{"DELETE", fmt.Sprintf("/references/hookconf/%s", ep), ""},
		{"POST", "/reference/session/logout", fmt.Sprintf(`{"reference":%d}`, ref)},
		{"POST", "/chats/send", send},
		{"GET", "/reference/999999", ""},
		{"GET", "/reference/x", ""},
		{"DELETE", fmt.Sprintf("/reference/%d", cloud), ""},
	} {
		ana.call(t, c[0], c[1], c[2]) // held to the document, see promises
	}
}

// TestDocumentTypes has numbers where times are numbers.
func TestDocumentTypes(t *testing.T) {
	t.Parallel()
	d := specification(t, setup(t, nil))
	require.Equal(t, "integer", at(t, d, "components", "schemas", "MessagingChat", "properties", "createdAt", "type"))
	require.Equal(t, []any{"integer", "null"}, at(t, d, "components", "schemas", "MessagingChat", "properties", "windowExpiresAt", "type"))
	require.Equal(t, "array", at(t, d, "components", "schemas", "MessagingChat", "properties", "tags", "type"))
	require.Equal(t, http.StatusText(200), at(t, d, "paths", "/chats", "patch", "responses", "200", "description"))
}
