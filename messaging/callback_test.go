package messaging_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

const (
	ownerSecret = "secret-of-the-app"
	ownerToken  = "token-of-the-owner"
)

// cloudSetup is a service with cloud references on a fake of their network, which
// knows the owner's token only.
func cloudSetup(t testing.TB, db *sqlx.DB) (*fixture, *graphtest.Server) {
	t.Helper()
	graph := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{
		{PhoneNumberID: "1001", BusinessAccountID: "2001", AccessToken: ownerToken, AppSecret: ownerSecret},
		{PhoneNumberID: "1002", BusinessAccountID: "2001", AccessToken: ownerToken, AppSecret: ownerSecret},
	}})
	t.Cleanup(graph.Close)
	f := setup(t, db, config{options: func(o *messaging.Options) {
		o.Providers = append(o.Providers, cloud.New(&cloud.Options{GraphURL: graph.URL}))
	}})
	return f, graph
}

// cloudReference makes a reference of an account.
func (f *fixture) cloudReference(t testing.TB, account string, change map[string]string) provider.ReferenceID {
	t.Helper()
	r, err := f.svc.For(account).References().Create(t.Context(), messaging.NewReference{
		Name: "Cloud", Type: cloud.Kind, Settings: cloudSettings(change),
	})
	require.NoError(t, err)
	return r.ID
}

// item is a text message on the wire.
func item(id, words string) string {
	return fmt.Sprintf(`{"from":"16505551234","id":%q,"timestamp":"1772366399","type":"text","text":{"body":%q}}`, id, words)
}

// change is a change of a phone number with items.
func change(phone string, items ...string) string {
	return fmt.Sprintf(`{"field":"messages","value":{"messaging_product":"whatsapp","metadata":{"phone_number_id":%q},
		"contacts":[{"wa_id":"16505551234","profile":{"name":"Ana"}}],"messages":[%s]}}`, phone, strings.Join(items, ","))
}

// callback is a body with changes of one business account.
func callback(changes ...string) string {
	return fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":"2001","changes":[%s]}]}`, strings.Join(changes, ","))
}

// post gives a callback, signed under secret, to the service.
func (f *fixture) post(t testing.TB, secret, body string) error {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	header := http.Header{"X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac.Sum(nil))}}
	return f.svc.Callback(t.Context(), header, []byte(body))
}

// received are the messages that arrived on a reference, as "id text".
func (f *fixture) received(t testing.TB, ref provider.ReferenceID) []string {
	t.Helper()
	out := []string{}
	for _, e := range f.sink.all(t) {
		if e.Type == messaging.EventMessage && e.Reference == ref {
			out = append(out, e.MessageID)
		}
	}
	return out
}

func (f *fixture) state(t testing.TB, account string, ref provider.ReferenceID) messaging.Session {
	t.Helper()
	s, err := f.svc.For(account).Sessions().Status(t.Context(), ref)
	require.NoError(t, err)
	return s
}

func TestCallback(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, _ := cloudSetup(t, db)
		ref := f.cloudReference(t, "owner", nil)
		require.Equal(t, messaging.StateStarting, f.state(t, "owner", ref).State)
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", item("w1", "hello"), item("w2", "again")))))
		require.Equal(t, []string{"w1", "w2"}, f.received(t, ref))
		require.Equal(t, messaging.StateConnected, f.state(t, "owner", ref).State, "the network and the reference are in touch")
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", item("w1", "hello")))), "any number of times")
		require.Len(t, f.received(t, ref), 2)

		for name, c := range map[string]struct {
			secret, body string
			want         error
		}{
			"wrong secret":      {"another secret", callback(change("1001", item("w3", "x"))), messaging.ErrUnverified},
			"unknown reference": {ownerSecret, callback(change("9999", item("w3", "x"))), messaging.ErrUnverified},
			"no entry":          {ownerSecret, callback(), messaging.ErrUnverified},
			"no ids":            {ownerSecret, `{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"messages","value":{}}]}]}`, messaging.ErrUnverified},
			"no JSON":           {ownerSecret, `{"object":`, messaging.ErrNotCallback},
			"an array":          {ownerSecret, `[{"object":"whatsapp_business_account"}]`, messaging.ErrNotCallback},
			"null":              {ownerSecret, `null`, messaging.ErrNotCallback},
			"nothing":           {ownerSecret, ``, messaging.ErrNotCallback},
			"another object":    {"any", `{"object":"instagram","entry":[]}`, nil},
			"an odd object":     {"any", `{"object":{"a":1},"entry":[]}`, nil},
		} {
			require.ErrorIs(t, f.post(t, c.secret, c.body), c.want, name)
		}
		require.ErrorIs(t, f.svc.Callback(t.Context(), http.Header{}, []byte(callback(change("1001", item("w3", "x"))))), messaging.ErrUnverified)
		require.Len(t, f.received(t, ref), 2)

		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", item("w4", "x")), change("9999", item("w5", "x")))))
		require.Equal(t, []string{"w1", "w2", "w4"}, f.received(t, ref), "an unknown reference costs its neighbours nothing")
	})
}

func TestCallbackGoesToEveryReferenceThatSignedIt(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, _ := cloudSetup(t, db)
		one := f.cloudReference(t, "owner", nil)
		twin := f.cloudReference(t, "owner", nil)
		second := f.cloudReference(t, "owner", map[string]string{"phoneNumberId": "1002"})
		otherApp := f.cloudReference(t, "agency", map[string]string{"appSecret": "secret of another app"})

		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", item("w1", "x")), change("1002", item("w2", "x")))))
		require.NoError(t, f.post(t, "secret of another app", callback(change("1001", item("w1", "x")))))
		require.Equal(t, []string{"w1"}, f.received(t, one))
		require.Equal(t, []string{"w1"}, f.received(t, twin))
		require.Equal(t, []string{"w2"}, f.received(t, second))
		require.Equal(t, []string{"w1"}, f.received(t, otherApp), "each app posts for itself")

		// What is about the whole business account goes to all its references.
		require.NoError(t, f.post(t, ownerSecret, callback(`{"field":"account_update","value":{"event":"VERIFIED_ACCOUNT"}}`)))
		require.Equal(t, 3, count(t, db, `SELECT count(*) FROM messaging_raw`))
	})
}

// TestSquatting is about strangers who claim the ids of somebody's reference.
func TestSquatting(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, graph := cloudSetup(t, db)
		guesser := f.cloudReference(t, "guesser", map[string]string{"appSecret": "a guess", "accessToken": "none"})
		ref := f.cloudReference(t, "owner", nil)
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", item("w1", "x")))))
		require.Equal(t, []string{"w1"}, f.received(t, ref))
		require.Empty(t, f.received(t, guesser))

		// Who has the secret too still needs a token that may read the reference.
		insider := f.cloudReference(t, "insider", map[string]string{"accessToken": "token of another reference"})
		graph.Fail(graphtest.Fault{Times: -1, Path: "1001", Status: http.StatusServiceUnavailable})
		err := f.post(t, ownerSecret, callback(change("1001", item("w2", "x"))))
		require.ErrorIs(t, err, messaging.ErrUnproved, "the network cannot be asked")
		require.Equal(t, messaging.StateConnected, f.state(t, "owner", ref).State)
		graph.Heal()
		require.ErrorIs(t, f.post(t, ownerSecret, callback(change("1001", item("w2", "x")))), messaging.ErrUnproved, "not asked again at once")
		f.clock.Advance(2 * time.Minute)
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", item("w2", "x")))))
		require.Equal(t, []string{"w1", "w2"}, f.received(t, ref))
		require.Empty(t, f.received(t, insider))
		require.Equal(t, messaging.StateFailed, f.state(t, "insider", insider).State)
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", item("w3", "x")))))
		require.Equal(t, []string{"w1", "w2", "w3"}, f.received(t, ref))

		// The owner's new settings have to be proved again, with no loss.
		_, err = f.svc.For("owner").References().Update(t.Context(), ref, messaging.ReferenceChange{Settings: map[string]string{"verifyToken": "new"}})
		require.NoError(t, err)
		f.clock.Advance(2 * time.Minute)
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", item("w4", "x")))))
		require.Equal(t, []string{"w1", "w2", "w3", "w4"}, f.received(t, ref))
		require.Empty(t, f.received(t, insider))

		// Two accounts that both may read the reference both get its events.
		partner := f.cloudReference(t, "partner", nil)
		_, err = f.svc.For("partner").Sessions().Start(t.Context(), partner)
		require.NoError(t, err)
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", item("w5", "x")))))
		require.Equal(t, []string{"w5"}, f.received(t, partner))
		require.Contains(t, f.received(t, ref), "w5")
	})
}

func TestBadItemsCostNoNeighbour(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, _ := cloudSetup(t, db)
		ref := f.cloudReference(t, "owner", nil)
		bad := []string{
			`7`, `[]`, `{"from":"16505551234","type":"text","text":{"body":"no id"}}`,
			`{"from":"16505551234","id":"x3","type":"text","text":[]}`, item(long, "a long id"),
		}
		odd := []string{
			`{"from":"16505551234","id":"o\u00001","timestamp":"1772366399","type":"text","text":{"body":"nul \u0000 here"}}`,
			`{"from":"16505551234","id":"o2","timestamp":"1772366399","type":"text","text":{"body":"half \ud83d pair"}}`,
			"{\"from\":\"16505551234\",\"id\":\"o3\",\"timestamp\":\"1772366399\",\"type\":\"text\",\"text\":{\"body\":\"no utf8 \xff\xfe\"}}",
			`{"from":"16505551234","id":"o4","timestamp":"99999999999999999","type":"text","text":{"body":"late"}}`,
			`{"from":"16505551234","id":"o5","timestamp":"1772366399","type":"hologram"}`,
		}
		var items []string
		for i := range bad {
			items = append(items, item(fmt.Sprint("g", i), "good"), bad[i], odd[i])
		}
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", items...))))
		for i := range bad {
			require.Contains(t, f.received(t, ref), fmt.Sprint("g", i))
			require.Contains(t, f.received(t, ref), fmt.Sprint("o", i+1))
		}
		require.Equal(t, len(bad), count(t, db, `SELECT count(*) FROM messaging_dead_letter`))
		require.Equal(t, len(bad), count(t, db, `SELECT count(*) FROM messaging_dead_letter WHERE reason <> '' AND body <> ''`))
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", items...))))
		require.Equal(t, len(bad), count(t, db, `SELECT count(*) FROM messaging_dead_letter`), "kept once")
	})
}

// TestNewReferenceIsKnownAtOnce makes and changes references on another node.
func TestNewReferenceIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		a, _ := cloudSetup(t, testkit.Open(t, url))
		b, _ := cloudSetup(t, testkit.Open(t, url))
		require.ErrorIs(t, b.post(t, ownerSecret, callback(change("1001", item("w1", "x")))), messaging.ErrUnverified)
		ref := a.cloudReference(t, "owner", nil)
		require.NoError(t, b.post(t, ownerSecret, callback(change("1001", item("w1", "x")))))
		_, err := a.svc.For("owner").References().Update(t.Context(), ref, messaging.ReferenceChange{Settings: map[string]string{"appSecret": "rotated secret"}})
		require.NoError(t, err)
		require.NoError(t, b.post(t, "rotated secret", callback(change("1001", item("w2", "x")))))
		two := a.cloudReference(t, "owner", map[string]string{"phoneNumberId": "1002", "appSecret": "rotated secret"})
		require.NoError(t, b.post(t, "rotated secret", callback(change("1001", item("w3", "x")), change("1002", item("w4", "x")))))
		require.Equal(t, []string{"w1", "w2", "w3"}, b.received(t, ref))
		require.Equal(t, []string{"w4"}, b.received(t, two))
	})
}

func TestHandshake(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, _ := cloudSetup(t, db)
		ref := f.cloudReference(t, "owner", map[string]string{"verifyToken": "open sesame"})
		shake := func(token string) bool {
			ok, err := f.svc.Handshake(t.Context(), token)
			require.NoError(t, err)
			return ok
		}
		require.True(t, shake("open sesame"))
		require.False(t, shake("close sesame"))
		require.False(t, shake(""))
		_, err := f.svc.For("owner").References().Update(t.Context(), ref, messaging.ReferenceChange{Settings: map[string]string{"verifyToken": "new"}})
		require.NoError(t, err)
		require.True(t, shake("new"))
		require.False(t, shake("open sesame"))
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_reference WHERE verify_hash = 'new'`))
	})
}

// TestCloudReferenceEndToEnd sends on a cloud reference and hears of it.
func TestCloudReferenceEndToEnd(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, graph := cloudSetup(t, db)
		ref := f.cloudReference(t, "owner", nil)
		acc := f.svc.For("owner")
		s, err := acc.Sessions().Start(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, messaging.StateConnected, s.State)
		require.Equal(t, "1001", s.Account.ID)
		require.True(t, graph.Subscribed("2001"))
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || f.svc.Callback(r.Context(), r.Header, body) != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}))
		defer server.Close()
		graph.SetCallback(server.URL)
		wrote, err := graph.Write(t.Context(), graphtest.Inbound{Number: "1001", From: "16505551234", Text: "hello", At: epoch})
		require.NoError(t, err)

		req := messaging.SendRequest{Reference: ref, ChatID: "+1 (650) 555-1234", Content: provider.Text{Text: "hi"}, ReplyTo: wrote, Wait: timeout}
		sent, err := acc.Send(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, "SENDING", sent.Message.Status)
		shown, err := graph.WaitShown(t.Context(), "16505551234", 1)
		require.NoError(t, err)
		require.Equal(t, sent.Message.ID, shown[0].ID)
		require.Equal(t, "hi", shown[0].Text)
		_, err = acc.MarkRead(t.Context(), ref, "16505551234", "")
		require.NoError(t, err)
		require.NoError(t, graph.WaitRead(t.Context(), wrote))

		graph.Fail(graphtest.Fault{Cut: true, Taken: true})
		req.ReplyTo = ""
		sent, err = acc.Send(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, "unconfirmed", sent.Message.Error.Code)
		graph.Fail(graphtest.Fault{Code: 131026})
		_, err = acc.Send(t.Context(), req)
		requireCode(t, err, messaging.CodeProvider)
		graph.Fail(graphtest.Fault{Code: 190})
		_, err = acc.Send(t.Context(), req)
		requireCode(t, err, messaging.CodeProvider)
		require.Equal(t, messaging.StateFailed, f.state(t, "owner", ref).State)
		require.Len(t, graph.Shown("16505551234"), 2)
	})
}
