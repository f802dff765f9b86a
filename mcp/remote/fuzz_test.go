package remote_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp/remote"
)

// FuzzAnswers has a server answer anything to the listing of its tools and to
// calls.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`, `{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"again"}`,
		`{"tools":[null,{"name":"a"},{"name":"b","inputSchema":null},{"name":"c","inputSchema":[]},{"name":"","inputSchema":{}}]}`,
		`{"tools":[{"name":"a\u0000b","description":"\u0000","inputSchema":{"type":"object","a\u0000":"\ud800"}}]}`,
		`{"tools":[{"name":"a","inputSchema":{"$ref":"#"}},{"name":"a","inputSchema":{"properties":{"x":{"x-mcp-header":1}}}}]}`,
		`{"tools":[{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes"}}]}`,
		`{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"content":[{"type":"text","text":"hi"}],"structuredContent":{"n":9007199254740993}}`,
		`{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"content":[{"type":"image","data":"x","mimeType":"image/png"},{"type":"resource"}],"isError":true}`,
		`{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"structuredContent":null,"content":null,"inputRequests":{"a":{"method":"elicitation/create"}},"requestState":"s"}`,
		`{}`, `null`, `[]`, `"x"`, `1e999`, `{"tools":{}}`, `{"protocolVersion":"0","tools":[]}`,
	} {
		f.Add(seed)
	}
	db := testkit.Open(f, testkit.SQLiteURL(f))
	require.NoError(f, remote.Migrate(f.Context(), db))
	s, err := remote.New(f.Context(), db, &remote.Options{Allow: []string{"127.0.0.1"}, Connect: time.Second, Call: time.Second})
	require.NoError(f, err)
	var answer atomic.Value
	answer.Store("")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answers(w, r, answer.Load().(string)) }))
	f.Cleanup(srv.Close)
	a := s.For("acme")
	made, err := a.Create(f.Context(), remote.NewServer{Name: "shop", URL: srv.URL})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, result string) {
		answer.Store(result)
		now, err := a.Refresh(t.Context(), made.ID)
		var failed *remote.Error
		if err != nil {
			require.ErrorAs(t, err, &failed)
			return
		}
		var c remote.Change
		for _, x := range now.Tools {
			require.True(t, json.Valid(x.Schema))
			c.Approve = append(c.Approve, remote.Approval{Name: x.Name, Hash: x.Hash})
		}
		now, err = a.Update(t.Context(), made.ID, c)
		require.NoError(t, err)
		tools, err := a.Tools(t.Context(), []string{"shop"})
		require.NoError(t, err)
		for _, x := range tools {
			require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, x.Name)
		}
		for _, x := range now.Tools[:min(len(now.Tools), 3)] {
			ctx, cancel := context.WithTimeout(t.Context(), patient)
			out, err := a.Call(ctx, remote.Call{Server: "shop", Tool: x.Name})
			cancel()
			if err != nil {
				require.ErrorAs(t, err, &failed)
				continue
			}
			require.True(t, json.Valid(out.JSON()), "%s", out.JSON())
		}
	})
}

// answers is a server of the older protocol that answers every request but the
// handshake with a fixed result.
func answers(w http.ResponseWriter, r *http.Request, result string) {
	var in struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	w.Header().Set("Content-Type", "application/json")
	switch in.Method {
	case "server/discover":
		http.Error(w, "what?", http.StatusNotFound)
		return
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
	case "notifications/initialized", "notifications/cancelled":
		w.WriteHeader(http.StatusAccepted)
		return
	}
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, in.ID, result)
}
