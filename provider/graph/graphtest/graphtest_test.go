package graphtest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

var ref = graphtest.Number{
	PhoneNumberID: "700100200300", BusinessAccountID: "800100200300",
	AccessToken: "token-a", AppSecret: "secret-a", VerifyToken: "verify a&b",
}

var other = graphtest.Number{
	PhoneNumberID: "700100200301", BusinessAccountID: "800100200301",
	AccessToken: "token-b", AppSecret: "secret-b", VerifyToken: "verify-b", Templates: []string{"hello/en_US"},
}

func start(t *testing.T, o graphtest.Options) (*graphtest.Server, *graph.Client) {
	t.Helper()
	if o.Numbers == nil {
		o.Numbers = []graphtest.Number{ref, other}
	}
	s := graphtest.Start(&o)
	t.Cleanup(s.Close)
	return s, graph.New(&graph.Options{URL: s.URL})
}

const message = `{"messaging_product":"whatsapp","to":"16505551234","type":"text","text":{"body":"Hello"}}`

func TestRefusals(t *testing.T) {
	t.Parallel()
	s, client := start(t, graphtest.Options{})
	good := ref.PhoneNumberID + "/messages"
	long := strings.Repeat("é", 4097)
	for name, c := range map[string]struct {
		token, path, body string
		status, code, sub int
	}{
		"no token":            {"", good, message, 401, 104, 0},
		"unknown token":       {"nobody", good, message, 401, 190, 0},
		"another reference":   {"token-b", good, message, 400, 100, 33},
		"unknown object":      {"token-a", "454545/messages", message, 400, 100, 33},
		"unknown edge":        {"token-a", ref.PhoneNumberID + "/nothing", message, 400, 100, 33},
		"no JSON":             {"token-a", good, `{`, 400, 100, 0},
		"unknown member":      {"token-a", good, `{"messaging_product":"whatsapp","too":"1"}`, 400, 100, 0},
		"no product":          {"token-a", good, `{"to":"16505551234","type":"text","text":{"body":"x"}}`, 400, 100, 0},
		"no recipient":        {"token-a", good, `{"messaging_product":"whatsapp","type":"text","text":{"body":"x"}}`, 400, 100, 0},
		"no number":           {"token-a", good, `{"messaging_product":"whatsapp","to":"ana","text":{"body":"x"}}`, 400, 131009, 0},
		"no scoped id":        {"token-a", good, `{"messaging_product":"whatsapp","recipient":"ana","text":{"body":"x"}}`, 400, 131009, 0},
		"no text":             {"token-a", good, `{"messaging_product":"whatsapp","to":"16505551234","type":"text"}`, 400, 131008, 0},
		"empty text":          {"token-a", good, `{"messaging_product":"whatsapp","to":"16505551234","text":{"body":""}}`, 400, 131009, 0},
		"long text":           {"token-a", good, `{"messaging_product":"whatsapp","to":"16505551234","text":{"body":"` + long + `"}}`, 400, 131009, 0},
		"unknown type":        {"token-a", good, `{"messaging_product":"whatsapp","to":"16505551234","type":"hologram"}`, 400, 131051, 0},
		"template no name":    {"token-a", good, `{"messaging_product":"whatsapp","to":"16505551234","type":"template","template":{"language":{"code":"en"}}}`, 400, 131008, 0},
		"template no locale":  {"token-a", good, `{"messaging_product":"whatsapp","to":"16505551234","type":"template","template":{"name":"hello"}}`, 400, 131008, 0},
		"template absent":     {"token-b", other.PhoneNumberID + "/messages", `{"messaging_product":"whatsapp","to":"16505551234","type":"template","template":{"name":"hello","language":{"code":"de"}}}`, 400, 132001, 0},
		"read of nothing":     {"token-a", good, `{"messaging_product":"whatsapp","status":"read","message_id":"wamid.x"}`, 400, 131009, 0},
		"another status":      {"token-a", good, `{"messaging_product":"whatsapp","status":"seen","message_id":"wamid.x"}`, 400, 131009, 0},
		"stray message_id":    {"token-a", good, `{"messaging_product":"whatsapp","to":"16505551234","text":{"body":"x"},"message_id":"wamid.x"}`, 400, 100, 0},
		"group recipient":     {"token-a", good, `{"messaging_product":"whatsapp","recipient_type":"group","to":"16505551234","text":{"body":"x"}}`, 400, 131009, 0},
		"empty context":       {"token-a", good, `{"messaging_product":"whatsapp","to":"16505551234","text":{"body":"x"},"context":{}}`, 400, 131008, 0},
		"long callback data":  {"token-a", good, `{"messaging_product":"whatsapp","to":"16505551234","text":{"body":"x"},"biz_opaque_callback_data":"` + strings.Repeat("x", 513) + `"}`, 400, 131009, 0},
		"another's account":   {"token-a", other.BusinessAccountID + "/subscribed_apps", ``, 400, 100, 33},
		"override unanswered": {"token-a", ref.BusinessAccountID + "/subscribed_apps", `{"override_callback_uri":"http://127.0.0.1:1/x","verify_token":"v"}`, 400, 2200, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var body any
			if json.Valid([]byte(c.body)) {
				body = json.RawMessage(c.body)
			}
			err := client.As(c.token).Post(t.Context(), c.path, body, nil)
			var refused *graph.Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, []int{c.status, c.code, c.sub}, []int{refused.HTTPStatus, refused.Code, refused.Subcode}, refused.Error())
			require.NotEmpty(t, refused.FBTraceID)
			require.NotEmpty(t, refused.Message)
		})
	}
	require.Empty(t, s.Shown(""))
}

func TestVersionMustBeInThePath(t *testing.T) {
	t.Parallel()
	s, _ := start(t, graphtest.Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1.0/"+ref.PhoneNumberID, nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"code":2500`)
}

func TestTakesMessages(t *testing.T) {
	t.Parallel()
	s, client := start(t, graphtest.Options{})
	var answer struct {
		Contacts []map[string]string `json:"contacts"`
		Messages []map[string]string `json:"messages"`
	}
	require.NoError(t, client.As("token-a").Post(t.Context(), ref.PhoneNumberID+"/messages", json.RawMessage(message), &answer))
	require.Equal(t, []map[string]string{{"input": "16505551234", "wa_id": "16505551234"}}, answer.Contacts)
	require.True(t, strings.HasPrefix(answer.Messages[0]["id"], "wamid."))

	shown, err := s.WaitShown(t.Context(), "16505551234", 1)
	require.NoError(t, err)
	require.Equal(t, answer.Messages[0]["id"], shown[0].ID)
	require.Equal(t, "Hello", shown[0].Text)
	require.JSONEq(t, message, string(shown[0].Body))
	require.Empty(t, s.Shown("12025550000"))

	requests := s.Requests()
	require.Len(t, requests, 1)
	require.Equal(t, http.MethodPost, requests[0].Method)
	require.Equal(t, ref.PhoneNumberID+"/messages", requests[0].Path)
	require.Equal(t, http.StatusOK, requests[0].Status)

	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = s.WaitShown(short, "16505551234", 2)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestLaterReferenceBehindOwnListener(t *testing.T) {
	t.Parallel()
	s := graphtest.New(nil)
	t.Cleanup(s.Close)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	client := graph.New(&graph.Options{URL: server.URL}).As("token-a")
	require.Error(t, client.Get(t.Context(), ref.PhoneNumberID, nil, nil))
	s.AddNumber(ref)
	require.NoError(t, client.Get(t.Context(), ref.PhoneNumberID, nil, nil))
}

func TestObjects(t *testing.T) {
	t.Parallel()
	s, client := start(t, graphtest.Options{})
	a := client.As("token-a")
	var number map[string]any
	require.NoError(t, a.Get(t.Context(), ref.PhoneNumberID, url.Values{"fields": {"verified_name,quality_rating"}}, &number))
	require.Equal(t, map[string]any{"id": ref.PhoneNumberID, "verified_name": "Example Shop", "quality_rating": "GREEN"}, number)
	require.NoError(t, a.Get(t.Context(), ref.PhoneNumberID, nil, &number))
	require.Equal(t, "+1 555-078-3881", number["display_phone_number"])
	require.Error(t, a.Get(t.Context(), ref.PhoneNumberID, url.Values{"fields": {"shoe_size"}}, nil))

	apps := ref.BusinessAccountID + "/subscribed_apps"
	var list struct{ Data []map[string]any }
	require.NoError(t, a.Get(t.Context(), apps, nil, &list))
	require.Empty(t, list.Data)
	require.NoError(t, a.Post(t.Context(), apps, nil, nil))
	require.True(t, s.Subscribed(ref.BusinessAccountID))
	require.NoError(t, a.Get(t.Context(), apps, nil, &list))
	require.Len(t, list.Data, 1)
}

// callback is the receiving end of callbacks.
type callback struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  []string
	refuse  int // so many more are refused
	arrived testsignal.Signal
}

func listen(t *testing.T, l graphtest.Number, refuse int) *callback {
	t.Helper()
	c := &callback{refuse: refuse}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			text, ok := provider.Challenge(r.URL.Query(), func(token string) bool { return token == l.VerifyToken })
			if !ok {
				w.WriteHeader(http.StatusForbidden)
			}
			_, _ = io.WriteString(w, text)
			return
		}
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.refuse > 0 {
			c.refuse--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if !graph.Verify(l.AppSecret, r.Header, body) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		c.bodies = append(c.bodies, string(body))
		c.arrived.Send()
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *callback) got() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.bodies...)
}

func TestCallbacks(t *testing.T) {
	t.Parallel()
	c := listen(t, ref, 2)
	s, client := start(t, graphtest.Options{Callback: c.URL, Statuses: []string{"sent", "delivered", "read"}})
	require.NoError(t, s.Handshake(t.Context(), ""))
	require.Error(t, s.Handshake(t.Context(), other.PhoneNumberID), "another verify token")

	id, err := s.Write(t.Context(), graphtest.Inbound{From: "16505551234", UserID: "US.1", Name: "Zoë/Ana 🙂", Username: "ana", Text: "Grüße <b>&", ReplyTo: "wamid.A/B=", Forwarded: true})
	require.NoError(t, err)
	bodies := c.got()
	require.Len(t, bodies, 1, "repeated until it was taken")
	require.Contains(t, bodies[0], `"Gr\u00fc\u00dfe <b>&"`)
	require.Contains(t, bodies[0], `"Zo\u00eb\/Ana \ud83d\ude42"`)
	var decoded struct {
		Entry []struct {
			ID      string
			Changes []struct {
				Value struct{ Messages []map[string]any }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(bodies[0]), &decoded))
	require.Equal(t, id, decoded.Entry[0].Changes[0].Value.Messages[0]["id"])

	read := json.RawMessage(`{"messaging_product":"whatsapp","status":"read","message_id":"` + id + `"}`)
	require.NoError(t, client.As("token-a").Post(t.Context(), ref.PhoneNumberID+"/messages", read, nil))
	require.True(t, s.Read(id))
	require.NoError(t, s.WaitRead(t.Context(), id))

	out := strings.Replace(message, `"type"`, `"biz_opaque_callback_data":"own-1","type"`, 1)
	require.NoError(t, client.As("token-a").Post(t.Context(), ref.PhoneNumberID+"/messages", json.RawMessage(out), nil))
	testkit.Until(t, []*testsignal.Signal{&c.arrived}, func() bool { return len(c.got()) == 4 })
	for i, status := range []string{"sent", "delivered", "read"} {
		require.Contains(t, c.got()[1+i], `"status":"`+status+`"`)
		require.Contains(t, c.got()[1+i], `"biz_opaque_callback_data":"own-1"`)
	}
	require.NoError(t, s.Status(t.Context(), s.Shown("")[0].ID, "failed", 131026))
	require.Contains(t, c.got()[4], `"code":131026`)
	require.Error(t, s.Status(t.Context(), "wamid.nothing", "read", 0))
}

func TestOverride(t *testing.T) {
	t.Parallel()
	general, own := listen(t, ref, 0), listen(t, ref, 0)
	s, client := start(t, graphtest.Options{Callback: general.URL})
	apps := ref.BusinessAccountID + "/subscribed_apps"
	require.NoError(t, client.As("token-a").Post(t.Context(), apps, map[string]string{"override_callback_uri": own.URL, "verify_token": ref.VerifyToken}, nil))
	_, err := s.Write(t.Context(), graphtest.Inbound{From: "16505551234", Text: "x"})
	require.NoError(t, err)
	require.Empty(t, general.got())
	require.Len(t, own.got(), 1)
}

func TestWindow(t *testing.T) {
	t.Parallel()
	c := listen(t, ref, 0)
	s, client := start(t, graphtest.Options{Callback: c.URL, Window: true})
	post := func() error {
		return client.As("token-a").Post(t.Context(), ref.PhoneNumberID+"/messages", json.RawMessage(message), nil)
	}
	var refused *graph.Error
	require.ErrorAs(t, post(), &refused)
	require.Equal(t, 131047, refused.Code)
	_, err := s.Write(t.Context(), graphtest.Inbound{From: "16505551234", Text: "x", At: time.Now().Add(-25 * time.Hour)})
	require.NoError(t, err)
	require.ErrorAs(t, post(), &refused)
	_, err = s.Write(t.Context(), graphtest.Inbound{From: "16505551234", Text: "x"})
	require.NoError(t, err)
	require.NoError(t, post())
}

func TestFaultsComeInOrder(t *testing.T) {
	t.Parallel()
	s, client := start(t, graphtest.Options{Latency: time.Millisecond})
	s.Fail(
		graphtest.Fault{Code: 131056, Times: 2, RetryAfter: 1500 * time.Millisecond, Details: "slower"},
		graphtest.Fault{Status: 502, Body: "<html>Bad Gateway</html>"},
		graphtest.Fault{Path: "/subscribed_apps", Code: 10},
		graphtest.Fault{Code: 2, Status: 500, Transient: true, Taken: true},
	)
	post := func() (e *graph.Error) {
		require.ErrorAs(t, client.As("token-a").Post(t.Context(), ref.PhoneNumberID+"/messages", json.RawMessage(message), nil), &e)
		return e
	}
	for range 2 {
		e := post()
		require.Equal(t, 131056, e.Code)
		require.Equal(t, 2*time.Second, e.RetryAfter)
		require.Equal(t, "slower", e.Details)
	}
	require.Equal(t, graph.NoCode, post().Code)
	require.Empty(t, s.Shown(""))
	require.True(t, post().Transient)
	require.Len(t, s.Shown(""), 1, "taken all the same")
	require.Error(t, client.As("token-a").Post(t.Context(), ref.BusinessAccountID+"/subscribed_apps", nil, nil))
	s.Fail(graphtest.Fault{Cut: true, Times: -1})
	require.Error(t, client.As("token-a").Post(t.Context(), ref.PhoneNumberID+"/messages", json.RawMessage(message), nil))
	s.Heal()
	s.SetLatency(0)
	require.NoError(t, client.As("token-a").Post(t.Context(), ref.PhoneNumberID+"/messages", json.RawMessage(message), nil))
}
