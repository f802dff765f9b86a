package protocol_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/protocol"
)

// FuzzBody posts arbitrary bodies on the oldest and the newest revision. There must
// be an answer that is not an internal error.
func FuzzBody(f *testing.F) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, params := range []string{
		`"tools/call","params":{"name":"order_state","arguments":{"reference":7,"id":"ana"},` + meta + `}`,
		`"tools/call","params":{"name":"order_state","arguments":null}`,
		`"tools/call","params":{"name":7,"arguments":[]}`,
		`"tools/list","params":{"cursor":"AAAA"}`,
		`"resources/read","params":{"uri":"shop://order/7/of/%zz"}`,
		`"resources/read","params":{"uri":"shop://order/%2f/of/\ud800"}`,
		`"prompts/get","params":{"name":"chase","arguments":{"reference":"7","id":"{reference}"}}`,
		`"prompts/get","params":null`,
		`"initialize","params":{}`,
		`"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}`,
		`"server/discover","params":{` + meta + `}`,
		`"notifications/cancelled","params":{"requestId":1}`,
	} {
		f.Add(`{"jsonrpc":"2.0","id":1,"method":` + params + `}`)
	}
	f.Add("\ufeff[]")
	f.Add(`{"jsonrpc":"2.0","id":{},"result":null}`)

	s := newShop(f, &mcp.Options{Limit: -1, AccountLimit: -1, NoAudit: true})
	s.opts.BaseURL, s.opts.Authenticate = "http://chat.example.com", authenticate
	h, err := protocol.New(s.Registry, &s.opts)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, body string) {
		if strings.Contains(body, "waits") {
			return // a function of the shop, which waits for its test
		}
		for _, revision := range []string{"", "2025-03-26", newest} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://chat.example.com"+protocol.Path, strings.NewReader(body))
			r.Header = http.Header{
				"Authorization": {"Bearer " + everything}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			}
			if revision != "" {
				r.Header.Set("Mcp-Protocol-Version", revision)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			require.Less(t, w.Code, 500, "%s", w.Body)
			require.NotContains(t, w.Body.String(), "internal error")
		}
	})
}
