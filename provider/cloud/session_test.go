package cloud_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

var (
	ana   = provider.Address{ChatID: "16505551234", Phone: "16505551234"}
	hello = provider.Text{Text: "Hello"}
)

const toAna = `{"messaging_product":"whatsapp","recipient_type":"individual","to":"16505551234",`

func TestBodies(t *testing.T) {
	t.Parallel()
	fake, _, session := setup(t, graphtest.Options{})
	for want, out := range map[string]provider.Outbound{
		`{"messaging_product":"whatsapp","recipient_type":"individual","to":"16505551234","type":"text","text":{"body":"Hello","preview_url":false},"biz_opaque_callback_data":"own-1"}`: {
			ID: "own-1", To: ana, Content: hello,
		},
		`{"messaging_product":"whatsapp","recipient_type":"individual","recipient":"US.77","type":"text","text":{"body":"<b> & https://a.b/ü","preview_url":true},"context":{"message_id":"wamid.Q="}}`: {
			To: provider.Address{ChatID: "US.77", UserID: "US.77"}, Content: provider.Text{Text: "<b> & https://a.b/ü", PreviewURL: true}, ReplyTo: "wamid.Q=",
		},
		`{"messaging_product":"whatsapp","recipient_type":"group","to":"Y2Fw.1=","type":"text","text":{"body":"Hello","preview_url":false},"biz_opaque_callback_data":"own-2"}`: {
			ID: "own-2", To: provider.Address{ChatID: "Y2Fw.1=@g.us", Group: true}, Content: hello,
		},
		`{"messaging_product":"whatsapp","recipient_type":"individual","to":"16505551234","type":"template","template":{"name":"hi","language":{"code":"en_US"}}}`: {
			To: provider.Address{ChatID: "16505551234", Phone: "16505551234", UserID: "US.77"}, Content: templated("hi", "en_US"),
		},
		`{"messaging_product":"whatsapp","recipient_type":"individual","to":"16505551234","type":"template","template":{"name":"hi","language":{"code":"de"},"components":[{"type":"body","parameters":[{"type":"text","text":"Ana"}]}]}}`: {
			To: ana, Content: templated("hi", "de", `{"type":"body","parameters":[{"type":"text","text":"Ana"}]}`),
		},
		toAna + `"type":"interactive","interactive":{"type":"button","body":{"text":"Sure?"},"action":{"buttons":[{"type":"reply","reply":{"id":"y","title":"Yes"}}]}}}`: {
			To: ana, Content: provider.Buttons{Text: "Sure?", Buttons: []provider.Choice{{ID: "y", Title: "Yes", Description: "not of buttons"}}},
		},
		toAna + `"type":"interactive","interactive":{"type":"list","body":{"text":"Which?"},"action":{"button":"Go","sections":[{"title":"A","rows":[{"id":"1","title":"One","description":"first"}]},{"title":"B","rows":[{"id":"2","title":"Two"}]}]}}}`: {
			To: ana, Content: provider.List{Text: "Which?", Button: "Go", Sections: []provider.Section{
				{Title: "A", Rows: []provider.Choice{{ID: "1", Title: "One", Description: "first"}}}, {Title: "B", Rows: []provider.Choice{{ID: "2", Title: "Two"}}},
			}},
		},
		toAna + `"type":"location","location":{"latitude":0,"longitude":-9.1393,"name":"Lisbon"}}`: {
			To: ana, Content: provider.Location{Longitude: -9.1393, Name: "Lisbon", URL: "https://not.sent"},
		},
		toAna + `"type":"contacts","contacts":[{"name":{"formatted_name":"Bo Ek","last_name":"Ek"},"phones":[{"phone":"+46 8 1","wa_id":"4681"}],"org":{"company":"Ek AB"}}]}`: {
			To: ana, Content: provider.Contacts{Contacts: []provider.Card{{
				Name: provider.CardName{Formatted: "Bo Ek", Last: "Ek"}, Phones: []provider.CardPhone{{Phone: "+46 8 1", WaID: "4681"}},
				Org: &provider.CardOrg{Company: "Ek AB"}, VCard: "not sent",
			}}},
		},
		toAna + `"type":"reaction","reaction":{"message_id":"wamid.Q=","emoji":""}}`: {To: ana, Content: provider.Reaction{MessageID: "wamid.Q="}},
		toAna + `"type":"interactive","interactive":{"type":"address_message","body":{"text":"Where?"},"action":{"name":"address_message","parameters":{"country":"IN"}}}}`: {
			To: ana, Content: provider.Interactive{Interactive: json.RawMessage(`{"type":"address_message","body":{"text":"Where?"},"action":{"name":"address_message","parameters":{"country":"IN"}}}`)},
		},
	} {
		before := len(fake.Shown(""))
		receipt, err := session.Send(t.Context(), out)
		require.NoError(t, err)
		shown := fake.Shown("")
		require.Len(t, shown, before+1)
		require.JSONEq(t, want, string(shown[before].Body))
		require.Equal(t, shown[before].ID, receipt.MessageID)
	}
}

func templated(name, language string, components ...string) provider.Template {
	call := provider.TemplateCall{Name: name, Language: provider.TemplateLanguage{Code: language}}
	for _, c := range components {
		call.Components = append(call.Components, json.RawMessage(c))
	}
	return provider.Template{Template: call}
}

func TestReceipt(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]*provider.Address{
		`"contacts":[{"input":"5511987654321","wa_id":"551187654321"}],`:      {ChatID: "551187654321", Phone: "551187654321"},
		`"contacts":[{"input":"1","wa_id":"16505551234","user_id":"US.77"}],`: {ChatID: "16505551234", Phone: "16505551234", UserID: "US.77"},
		`"contacts":[{"input":"US.77","user_id":"US.77"}],`:                   {ChatID: "US.77", UserID: "US.77"},
		`"contacts":[{"input":"US.77","wa_id":"US.77"}],`:                     {ChatID: "US.77", UserID: "US.77"},
		`"contacts":[{"input":"x"}],`:                                         nil,
		``:                                                                    nil,
	} {
		session := answering(t, `{`+answer+`"messages":[{"id":"wamid.1","message_status":"accepted"}]}`)
		receipt, err := session.Send(t.Context(), provider.Outbound{To: ana, Content: hello})
		require.NoError(t, err)
		require.Equal(t, provider.Receipt{MessageID: "wamid.1", To: want}, receipt, answer)
	}
	for _, answer := range []string{`{}`, `{"messages":[]}`, `{"messages":[{}]}`, `{"messages":7}`, `[]`, `OK`} {
		_, err := answering(t, answer).Send(t.Context(), provider.Outbound{To: ana, Content: hello})
		var uncertain *provider.Ambiguous
		require.ErrorAs(t, err, &uncertain, answer)
	}
}

// answering opens the reference against a server that always answers 200 with body.
func answering(t *testing.T, body string) provider.Session {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
	t.Cleanup(server.Close)
	session, err := cloud.New(&cloud.Options{GraphURL: server.URL}).Open(t.Context(), provider.Reference{Settings: settings()}, nil)
	require.NoError(t, err)
	return session
}

func TestWhatIsNotSent(t *testing.T) {
	t.Parallel()
	fake, _, session := setup(t, graphtest.Options{})
	for names, out := range map[string]provider.Outbound{
		`"opened"`:        {To: ana, Content: provider.Opened{}},
		`"revoke"`:        {To: ana, Content: provider.Revoke{MessageID: "wamid.1"}},
		"media_placehold": {To: ana, Content: provider.Media{Kind: provider.Placeholder}},
		"without content": {To: ana},
		"message.mediaId": {To: ana, Content: provider.Media{Kind: provider.Image, StoredID: "7"}},
	} {
		_, err := session.Send(t.Context(), out)
		var unsupported *provider.Unsupported
		require.ErrorAs(t, err, &unsupported, names)
		require.Contains(t, err.Error(), names)
	}
	_, err := session.Send(t.Context(), provider.Outbound{To: provider.Address{ChatID: "x"}, Content: hello})
	var bad *provider.BadRecipient
	require.ErrorAs(t, err, &bad)
	_, err = session.Send(t.Context(), provider.Outbound{ID: strings.Repeat("x", 513), To: ana, Content: hello})
	var invalid *provider.Invalid
	require.ErrorAs(t, err, &invalid)
	require.Empty(t, fake.Requests())
}

func TestCheck(t *testing.T) {
	t.Parallel()
	fake, _, session := setup(t, graphtest.Options{})
	account, err := session.(provider.Checker).Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"phone_number", "access_token"}, []string{account.Health[0].Kind, account.Health[1].Kind})
	account.Health = nil
	require.Equal(t, provider.Account{ID: referenceID, Name: "+1 555-078-3881", VerifiedBizName: "Example Shop"}, account)
	require.True(t, fake.Subscribed(accountID))

	fake.Fail(graphtest.Fault{Path: "/" + referenceID, Code: 190, Subcode: 463, Message: "Session has expired", Status: 401})
	_, err = session.(provider.Checker).Check(t.Context())
	var expired *provider.AuthExpired
	require.ErrorAs(t, err, &expired)
	require.Equal(t, "190", expired.Code)
	require.ErrorContains(t, expired, "Session has expired [The access token has expired.")

	fake.Fail(graphtest.Fault{Path: "/subscribed_apps", Code: 200, Message: "no permission"})
	_, err = session.(provider.Checker).Check(t.Context())
	require.ErrorAs(t, err, &expired)
	require.ErrorContains(t, err, "subscribing to the business account")

	fake.Fail(graphtest.Fault{Path: "/" + referenceID, Cut: true, Times: -1})
	_, err = session.(provider.Checker).Check(t.Context())
	var temporary *provider.Temporary
	require.ErrorAs(t, err, &temporary, "a check may be repeated")

	var rejected *provider.Rejected
	_, err = answering(t, `{"id":"1"}`).(provider.Checker).Check(t.Context())
	require.ErrorAs(t, err, &rejected, "another number")
	_, err = answering(t, `{"id":`+referenceID+`,"success":false}`).(provider.Checker).Check(t.Context())
	require.ErrorAs(t, err, &rejected, "not subscribed")
	_, err = answering(t, `{"id":`+referenceID+`,"success":"true"}`).(provider.Checker).Check(t.Context())
	require.NoError(t, err, "Meta writes both")
}

func TestMarkRead(t *testing.T) {
	t.Parallel()
	callback := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(callback.Close)
	fake, _, session := setup(t, graphtest.Options{Callback: callback.URL})
	id, err := fake.Write(t.Context(), graphtest.Inbound{From: "16505551234", Text: "x"})
	require.NoError(t, err)
	require.NoError(t, session.(provider.Reader).MarkRead(t.Context(), ana, id))
	require.True(t, fake.Read(id))
	requests := fake.Requests()
	require.JSONEq(t, `{"messaging_product":"whatsapp","status":"read","message_id":"`+id+`"}`, string(requests[0].Body))
	require.NoError(t, session.(provider.Typist).Typing(t.Context(), ana, id))
	require.JSONEq(t, `{"messaging_product":"whatsapp","status":"read","message_id":"`+id+`","typing_indicator":{"type":"text"}}`, string(fake.Requests()[1].Body))
	var rejected *provider.Rejected
	require.ErrorAs(t, session.(provider.Reader).MarkRead(t.Context(), ana, "wamid.stale"), &rejected)
	require.Equal(t, "131009", rejected.Code)
}

func TestClosedSession(t *testing.T) {
	t.Parallel()
	fake, _, session := setup(t, graphtest.Options{})
	require.NoError(t, session.Close(t.Context()))
	require.NoError(t, session.Close(t.Context()))
	_, err := session.Send(t.Context(), provider.Outbound{To: ana, Content: hello})
	require.ErrorIs(t, err, graph.ErrClosed)
	_, err = session.(provider.Checker).Check(t.Context())
	require.ErrorIs(t, err, graph.ErrClosed)
	require.ErrorIs(t, session.(provider.Reader).MarkRead(t.Context(), ana, "x"), graph.ErrClosed)
	require.ErrorIs(t, session.(provider.Typist).Typing(t.Context(), ana, "x"), graph.ErrClosed)
	_, err = session.(provider.MediaFetcher).Fetch(t.Context(), provider.Media{ID: "1"}, io.Discard)
	require.ErrorIs(t, err, graph.ErrClosed)
	m := session.(provider.TemplateManager)
	_, _, err = m.Templates(t.Context(), "")
	require.ErrorIs(t, err, graph.ErrClosed)
	_, err = m.CreateTemplate(t.Context(), provider.TemplateDefinition{})
	require.ErrorIs(t, err, graph.ErrClosed)
	require.ErrorIs(t, m.DeleteTemplate(t.Context(), "x", ""), graph.ErrClosed)
	require.Empty(t, fake.Requests())
}

func TestOpenRefusesBadSettings(t *testing.T) {
	t.Parallel()
	p := cloud.New(nil)
	for _, s := range p.Settings() {
		if !s.Required {
			continue
		}
		for _, value := range []string{"", "  "} {
			bad := settings()
			bad[s.Name] = value
			_, err := p.Open(t.Context(), provider.Reference{ID: 7, Settings: bad}, nil)
			require.ErrorContains(t, err, s.Name)
		}
	}
	for _, name := range []string{"phoneNumberId", "businessAccountId"} {
		for _, value := range []string{"../x", "1/2", "+1", "1?x=1"} {
			bad := settings()
			bad[name] = value
			_, err := p.Open(t.Context(), provider.Reference{Settings: bad}, nil)
			require.ErrorContains(t, err, name)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	p := cloud.New(nil)
	for in, want := range map[string]provider.Address{
		"16505551234":               {ChatID: "16505551234", Phone: "16505551234"},
		"+1 (650) 555-12.34":        {ChatID: "16505551234", Phone: "16505551234"},
		"+1\u00a0650\u2013555 1234": {ChatID: "16505551234", Phone: "16505551234"},
		" 5678 ":                    {ChatID: "5678", Phone: "5678"},
		"US.40070010020030040055":   {ChatID: "US.40070010020030040055", UserID: "US.40070010020030040055"},
		"US.ENT.1181579921288684":   {ChatID: "US.ENT.1181579921288684", UserID: "US.ENT.1181579921288684"},
		"120363@g.us":               {ChatID: "120363@g.us", Group: true},
		"Y2FwaV9ncm91cDo/+x=@g.us":  {ChatID: "Y2FwaV9ncm91cDo/+x=@g.us", Group: true},
	} {
		got, err := p.Address(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got)
	}
	for _, junk := range []string{
		"", " ", "+", "123", "1234567890123456", "++16505551234", "1+6505551234", "ana", "ana@sandbox", "16505551234@s.whatsapp.net",
		"@g.us", "a b@g.us", "us.123", "USA.1", "US.", "US.1 2", "1650555١٢٣٤", "US." + strings.Repeat("1", 129),
	} {
		_, err := p.Address(junk)
		var bad *provider.BadRecipient
		require.ErrorAs(t, err, &bad, junk)
	}
}

func TestSendErrors(t *testing.T) {
	t.Parallel()
	fake, _, session := setup(t, graphtest.Options{})
	for want, fault := range map[string]graphtest.Fault{
		"*provider.RateLimited":  {Code: 131056, RetryAfter: 4 * time.Second},
		"*provider.WindowClosed": {Code: 131047},
		"*provider.AuthExpired":  {Code: 190, Status: 401},
		"*provider.BadRecipient": {Code: 131026},
		"*provider.Rejected":     {Code: 132001, Status: 404},
		"*provider.Temporary":    {Code: 131000, Status: 500, Transient: true},
		"*provider.Ambiguous":    {Cut: true, Taken: true},
	} {
		fake.Fail(fault)
		_, err := session.Send(t.Context(), provider.Outbound{To: ana, Content: hello})
		require.Equal(t, want, fmt.Sprintf("%T", err))
	}
	require.Len(t, fake.Shown(""), 1)
}

func TestLogNamesTheTraceAndNoSecret(t *testing.T) {
	t.Parallel()
	fake, _, _ := setup(t, graphtest.Options{})
	var log bytes.Buffer
	p := cloud.New(&cloud.Options{GraphURL: fake.URL, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	session, err := p.Open(t.Context(), provider.Reference{ID: 3, Settings: settings()}, nil)
	require.NoError(t, err)
	fake.Fail(graphtest.Fault{Code: 131026, Message: "16505551234 is not reachable with token"})
	_, err = session.Send(t.Context(), provider.Outbound{To: ana, Content: provider.Text{Text: "a secret thing"}})
	require.Error(t, err)
	require.Contains(t, log.String(), "reference=3")
	require.Contains(t, log.String(), "fbtrace_id=A")
	for _, secret := range []string{"16505551234", "a secret thing", "token", "app secret"} {
		require.NotContains(t, log.String(), secret)
	}
}
