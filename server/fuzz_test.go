package server_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/auth"
)

// fuzzed is a server with one user, a cloud reference and a sandbox.
type fuzzed struct {
	*server.Server
	token          string
	cloud, sandbox provider.ReferenceID
}

func newFuzzed(f *testing.F) fuzzed {
	f.Helper()
	s, err := server.New(f.Context(), server.Config{
		DB: testkit.Open(f, testkit.SQLiteURL(f)), Secrets: []server.Secret{secret}, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(f, err)
	user, err := s.Auth.SignUp(f.Context(), auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: "correct horse"})
	require.NoError(f, err)
	acc, l := s.Messaging.For(user.User.AccountID), cloudNumber("700")
	ref, err := acc.References().Create(f.Context(), messaging.NewReference{Name: "Cloud", Type: cloud.Kind, Settings: map[string]string{
		"phoneNumberId": l.PhoneNumberID, "businessAccountId": l.BusinessAccountID, "accessToken": l.AccessToken,
		"appSecret": l.AppSecret, "verifyToken": l.VerifyToken,
	}})
	require.NoError(f, err)
	shop, err := acc.References().Create(f.Context(), messaging.NewReference{Name: "Shop", Type: sandbox.Kind})
	require.NoError(f, err)
	_, err = acc.UpdateChat(f.Context(), shop.ID, "ana", messaging.ChatChange{})
	require.NoError(f, err)
	return fuzzed{s, user.Token, ref.ID, shop.ID}
}

func (x fuzzed) do(t *testing.T, method, path, body string, header ...string) answer {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+x.token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header[header[i]] = []string{header[i+1]}
	}
	w := httptest.NewRecorder()
	x.ServeHTTP(w, req)
	return answer{w, t}
}

// FuzzCallback posts whatever somebody signed who knows the secret.
func FuzzCallback(f *testing.F) {
	x := newFuzzed(f)
	for _, seed := range []string{
		text("700", "70099", "16505551234", "wamid.1", "Hello"), text("7", "70099", "16505551234", "wamid.1", "Hello"),
		`{"object":"whatsapp_business_account","entry":[{"id":"70099","changes":[{"field":"account_update","value":{"event":"X"}}]}]}`,
		`{"object":"whatsapp_business_account","entry":[{"id":70099,"changes":[{"field":"messages","value":{"metadata":{"phone_number_id":700},"statuses":[{"id":"wamid.1","status":"read","timestamp":"1","recipient_id":"1"}]}}]}]}`,
		`{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"messages","value":{"metadata":{"phone_number_id":"700"},"messages":[{"from":"1\u0000","id":"\ud800","timestamp":"99999999999999999999","type":"text","text":{"body":7}},null]}}]}]}`,
		`{"object":"instagram"}`, `{"object":null,"entry":{}}`, `[]`, `{`, ``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		post := func() int {
			return x.do(t, "POST", "/webhooks/provider", body, graph.SignatureHeader, graph.Sign(cloudNumber("700").AppSecret, []byte(body))).Code
		}
		status := post()
		require.Contains(t, []int{200, 400, 401}, status)
		require.Equal(t, status, post(), "a repeat is answered alike")
		if !json.Valid([]byte(body)) {
			require.Equal(t, 400, status)
		}
	})
}

// FuzzSignature takes one signature and no other.
func FuzzSignature(f *testing.F) {
	x := newFuzzed(f)
	body := text("700", "70099", "16505551234", "wamid.1", "Hello")
	good := graph.Sign(cloudNumber("700").AppSecret, []byte(body))
	for _, seed := range []string{
		good, "", "sha256=", strings.ToUpper(good), good + "0", good[:len(good)-1], " " + good, "sha1=" + good[7:], good + "," + good,
		graph.Sign("", []byte(body)), "sha256=" + strings.Repeat("0", 64), "sha256=\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, signature string) {
		want := 401
		if signature == good {
			want = 200
		}
		require.Equal(t, want, x.do(t, "POST", "/webhooks/provider", body, graph.SignatureHeader, signature).Code)
	})
}

// FuzzCursor pages from wherever somebody says.
func FuzzCursor(f *testing.F) {
	x := newFuzzed(f)
	for _, seed := range []string{"", "MQ", "MS4y", "MS4yLjM", "LTE", "====", "\x00", "\xff", "A", "MXkycDBpajMyZThlNw", strings.Repeat("M", 200), "eg"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		q := url.QueryEscape(cursor)
		for _, path := range []string{
			"/reference/list?cursor=" + q, fmt.Sprintf("/chats/list?reference=%d&cursor=%s", x.sandbox, q),
			fmt.Sprintf("/chats/messages?reference=%d&chatId=ana&before=%s", x.sandbox, q),
			fmt.Sprintf("/chats/messages?reference=%d&chatId=ana&after=%s", x.sandbox, q),
			fmt.Sprintf("/sandbox/%d/messages?cursor=%s", x.sandbox, q),
		} {
			require.Contains(t, []int{200, 422}, x.do(t, "GET", path, "").Code, path)
		}
	})
}

// FuzzSettings makes references from whatever somebody gives as settings, and never
// shows a secret again.
func FuzzSettings(f *testing.F) {
	x := newFuzzed(f)
	for _, seed := range []string{
		`{"phoneNumberId":"1","businessAccountId":"2","accessToken":"token-of-1","appSecret":"secret-of-1","verifyToken":"verify-of-1"}`,
		`{"phoneNumberId":"1","businessAccountId":"2","accessToken":"••••of-1","appSecret":"s","verifyToken":"v"}`,
		`{"phoneNumberId":"\u0000","businessAccountId":"\ud800","accessToken":" ","appSecret":"s","verifyToken":"v"}`,
		`{"phoneNumberId":1}`, `{"x":"y"}`, `null`, `[]`, `"x"`, `{`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, settings string) {
		a := x.do(t, "POST", "/reference", `{"name":"x","type":"provider-cloud","settings":`+settings+`}`)
		require.Contains(t, []int{201, 400, 422}, a.Code, a.Body.String())
		if a.Code != 201 {
			return
		}
		var in map[string]string
		require.NoError(t, json.Unmarshal([]byte(settings), &in))
		out := a.json(201)
		for _, name := range []string{"accessToken", "appSecret", "verifyToken"} {
			shown := out["settings"].(map[string]any)[name].(string)
			require.True(t, strings.HasPrefix(shown, "••••"))
			require.LessOrEqual(t, utf8.RuneCountInString(shown), 8)
		}
		path := fmt.Sprintf("/reference/%.0f", out["id"])
		require.Equal(t, 200, x.do(t, "GET", path, "").Code)
		require.Equal(t, 202, x.do(t, "DELETE", path, "").Code)
	})
}

// FuzzSend sends whatever somebody calls a message.
func FuzzSend(f *testing.F) {
	x := newFuzzed(f)
	for _, seed := range []string{
		`{"type":"text","text":"Hi"}`, `{"type":"text","text":"\u0000\\u0000"}`, `{"type":"location","latitude":1e308,"longitude":-0}`,
		`{"type":"template","template":{"name":"a","language":{"code":"b"},"components":[1,null,{"a":[]}]}}`,
		`{"type":"list","text":"a","button":"b","sections":[{"rows":[{"id":"1","title":"\ud800"}]}]}`, `{"type":["text"]}`, `null`, `7`, `{"type":"text","text":"a"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		body := fmt.Sprintf(`{"reference":%d,"chatId":"ana","message":%s}`, x.sandbox, message)
		a := x.do(t, "POST", "/chats/send?wait=0", body)
		require.Contains(t, []int{200, 400, 422}, a.Code, a.Body.String())
	})
}
