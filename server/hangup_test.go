package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// TestHangUps has clients hang up before each statement of their request: it is no
// fault of the server, and no line of its log says so.
func TestHangUps(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seen, asked := testkit.Counting(t, db)
		f := setupOn(t, seen, nil)
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		number := cloudNumber("820")
		ana.reference(t, reference(number))
		ana.write(t, ref, "ana", "Hello")
		played := 0
		for _, r := range []struct{ method, path, body string }{
			{"GET", "/probe", ""},
			{"POST", "/webhooks/provider", text("820", "82099", "16505551234", "wamid.%d", "Hello")},
			{"POST", "/webhooks/provider", unreadable("820", "%d")},
			{"GET", "/webhooks/provider?hub.mode=subscribe&hub.challenge=1&hub.verify_token=x", ""},
			{"POST", "/chats/send?wait=0", sendBody(ref, "ana", `{"type":"text","text":"%d"}`)},
			{"GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=ana", ref), ""},
			{"GET", fmt.Sprintf("/chats/export?reference=%d&chatId=ana", ref), ""},
			{"GET", fmt.Sprintf("/chats/stream?reference=%d", ref), ""},
			{"POST", fmt.Sprintf("/sandbox/%d/messages", ref), `{"from":"ana","type":"text","text":"%d"}`},
			{"PATCH", fmt.Sprintf("/reference/%d", ref), `{"name":"Shop %d"}`},
			{"POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":"https://example.org/%%d"}`, ref)},
			{"POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"Bot %%d"}`, ref)},
			{"POST", "/service-mcp/execute", fmt.Sprintf(`{"function":"list_chats","arguments":{"reference":%d}}`, ref)},
			{"POST", "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_chats","arguments":{"reference":%d}}}`, ref)},
			{"POST", "/user/login", `{"email":"ana@example.org","password":"correct horse"}`},
			{"GET", "/user/me", ""},
			{"GET", "/swagger", ""},
		} {
			for n := int64(1); n < 100; n++ {
				body := strings.ReplaceAll(r.body, "%d", fmt.Sprint(n))
				ctx, hangUp := context.WithCancel(t.Context())
				reached := asked.Before(n, hangUp)
				req := httptest.NewRequestWithContext(ctx, r.method, r.path, strings.NewReader(body))
				req.Header.Set("Authorization", "Bearer "+ana.token)
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", "application/json, text/event-stream")
				req.Header.Set(graph.SignatureHeader, graph.Sign(number.AppSecret, []byte(body)))
				if strings.HasPrefix(r.path, "/chats/stream") && n > 5 {
					hangUp() // a stream does not end by itself
				}
				serveAborted(f, req)
				hangUp()
				if !reached() {
					break
				}
				played++
			}
		}
		require.Greater(t, played, 60)
		for line := range strings.Lines(f.log.String()) {
			require.NotRegexp(t, `"level":"(WARN|ERROR)"`, line)
		}
	})
}

// serveAborted has a request answered, which may end before its answer is whole.
func serveAborted(f fixture, req *http.Request) {
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
			panic(v)
		}
	}()
	f.ServeHTTP(httptest.NewRecorder(), req)
}
