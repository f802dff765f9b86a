package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/server"
)

type toggleIn struct {
	Reference int64  `json:"reference"`
	ChatID    string `json:"chatId"`
	Active    bool   `json:"active"`
}

type toggleOut struct {
	ChatID        string `json:"chatId"`
	Reference     int64  `json:"reference"`
	BotActive     int    `json:"botActive"`
	PreviousState int    `json:"previousState"`
}

const toggleBody = `{"function":"toggle","arguments":{"reference":7,"chatId":"5511999990000@s.whatsapp.net","active":true}}`

// BenchmarkFunctionREST calls a function over REST that does nothing, without
// limits and audit, beside a bare handler that reads and writes the same JSON.
// "token" is what the check of the caller's token takes of it. They take turns.
func BenchmarkFunctionREST(b *testing.B) {
	s, token := functionServer(b)
	compareREST(b, posts(b, http.HandlerFunc(bareToggle), ""), posts(b, s, token), authentications(b, s, token))
}

// authentications checks a token.
func authentications(b *testing.B, s *server.Server, token string) func(n int) {
	return func(n int) {
		for range n {
			if _, err := s.Auth.Authenticate(b.Context(), token); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// compareREST reports the CPU time of a bare handler, of the server, and of the
// check of its token, which take turns.
func compareREST(b *testing.B, bare, rest, token func(n int)) {
	sides := []struct {
		name  string
		turn  func(n int)
		spent time.Duration
	}{{name: "bare", turn: bare}, {name: "rest", turn: rest}, {name: "token", turn: token}}
	const each = 500
	for _, side := range sides {
		side.turn(each) // what is made once, is made
	}
	for b.Loop() {
		for i := range sides {
			began := testkit.OwnCPUTime(b)
			sides[i].turn(each)
			sides[i].spent += testkit.OwnCPUTime(b) - began
		}
	}
	for _, side := range sides {
		b.ReportMetric(float64(side.spent.Nanoseconds())/1e3/float64(b.N*each), side.name+"-cpu-µs/call")
	}
	b.ReportMetric(float64(sides[1].spent)/float64(sides[0].spent), "×bare")
	b.ReportMetric(float64(sides[1].spent-sides[2].spent)/float64(sides[0].spent), "×bare-without-token")
}

// functionServer is a server whose functions are neither limited nor audited, and
// a user's token.
func functionServer(b *testing.B) (*server.Server, string) {
	db := testkit.Open(b, testkit.SQLiteURL(b))
	s, err := server.New(b.Context(), server.Config{
		DB: db, Secrets: []server.Secret{secret}, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(b, err)
	s.MCP, err = mcp.New(b.Context(), db, &mcp.Options{Limit: -1, AccountLimit: -1, NoAudit: true})
	require.NoError(b, err)
	require.NoError(b, mcp.Register(s.MCP, mcp.Function[toggleIn, toggleOut]{
		Name: "toggle", Description: "For benchmarks.",
		Handler: func(_ context.Context, _ mcp.Call, in toggleIn) (toggleOut, error) {
			return toggleOut{ChatID: in.ChatID, Reference: in.Reference}, nil
		},
	}))
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/user/signup", strings.NewReader(`{"email":"a@example.org","password":"long enough a word","name":"A"}`))
	r.Header.Set("Content-Type", "application/json")
	s.ServeHTTP(w, r)
	var in struct{ Token string }
	require.NoError(b, json.Unmarshal(w.Body.Bytes(), &in), w.Body)
	return s, in.Token
}

// posts makes calls of the function.
func posts(b *testing.B, h http.Handler, token string) func(n int) {
	return requests(b, h, fmt.Sprintf("POST /service-mcp/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", token, len(toggleBody), toggleBody), `"success":true`)
}

// requests makes requests over one connection, whose answers must be right. It
// does as little as it can: what is measured is the server.
func requests(b *testing.B, h http.Handler, request, says string) func(n int) {
	s := httptest.NewServer(h)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	require.NoError(b, err)
	b.Cleanup(func() {
		require.NoError(b, conn.Close())
		s.Close()
	})
	answer := make([]byte, 8192)
	return func(n int) {
		for range n {
			if _, err := io.WriteString(conn, request); err != nil {
				b.Fatal(err)
			}
			got := 0
			for !bytes.HasSuffix(answer[:got], []byte("}\n")) && !bytes.HasSuffix(answer[:got], []byte("\r\n0\r\n\r\n")) {
				m, err := conn.Read(answer[got:])
				if err != nil {
					b.Fatal(err, string(answer[:got]))
				}
				got += m
			}
			if !bytes.Contains(answer[:got], []byte(says)) {
				b.Fatal(string(answer[:got]))
			}
		}
	}
}

// bareToggle is the least that a handler of the same call does.
func bareToggle(w http.ResponseWriter, r *http.Request) {
	var call struct {
		Function  string          `json:"function"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var in toggleIn
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &call) != nil || call.Function != "toggle" || json.Unmarshal(call.Arguments, &in) != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"success": true, "function": call.Function, "result": toggleOut{ChatID: in.ChatID, Reference: in.Reference}, "error": nil,
		"executionTime": 0.1, "timestamp": time.Now().UTC().Format(time.RFC3339),
	})
}
