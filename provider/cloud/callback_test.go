package cloud_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// change is a callback with one change of the reference.
func change(field, value string) []byte {
	return []byte(`{"object":"whatsapp_business_account","entry":[{"id":"` + accountID + `","changes":[{"field":"` + field +
		`","value":{"messaging_product":"whatsapp","metadata":{"phone_number_id":"` + referenceID + `"},` + value + `}}]}]}`)
}

// read routes and parses a callback.
func read(t testing.TB, body []byte) (events []provider.Event, bad []provider.Bad) {
	t.Helper()
	p := cloud.New(nil)
	parts, err := p.Route(body)
	require.NoError(t, err)
	for _, part := range parts {
		e, b := p.Parse(part)
		events, bad = append(events, e...), append(bad, b...)
	}
	return events, bad
}

// one reads a callback of exactly one good item.
func one[E provider.Event](t testing.TB, body []byte) E {
	t.Helper()
	events, bad := read(t, body)
	require.Empty(t, bad)
	require.Len(t, events, 1)
	e, ok := events[0].(E)
	require.Truef(t, ok, "it is a %T", events[0])
	return e
}

func TestRoute(t *testing.T) {
	t.Parallel()
	body := []byte(`{"entry":[
		{"changes":[
			{"value":{"metadata":{"display_phone_number":"1","phone_number_id":"11"},"messages":[{"id":"a"}]},"field":"messages"},
			{"field":"messages","value":{"metadata":{"phone_number_id":12}}}
		],"id":100},
		{"id":"200","time":1739321024,"changes":[{"field":"account_update","value":{"event":"X"}},{}]},
		{"id":"300"}, {"changes":[7]}, 7, null, {"id":{},"changes":[{"value":[],"field":"x"}]},
		{"id":"400","time":["long"],"changes":[{"field":"account_update","value":{"waba_info":{"waba_id":500}}}]},
		{"id":"400","changes":[{"field":"account_update","value":{"waba_info":{"waba_id":"400"}}}]}
	],"object":"whatsapp_business_account"}`)
	parts, err := cloud.New(nil).Route(body)
	require.NoError(t, err)
	type part struct{ ref, group, body string }
	var got []part
	for _, p := range parts {
		require.True(t, json.Valid(p.Body))
		got = append(got, part{p.NetworkID, p.Group, string(p.Body)})
	}
	require.Equal(t, []part{
		{"11", "100", `{"value":{"metadata":{"display_phone_number":"1","phone_number_id":"11"},"messages":[{"id":"a"}]},"field":"messages"}`},
		{"12", "100", `{"field":"messages","value":{"metadata":{"phone_number_id":12}}}`},
		{"", "200", `{"time":1739321024,"field":"account_update","value":{"event":"X"}}`},
		{"", "200", `{"time":1739321024}`},
		{"", "", `7`},
		{"", "", `{"value":[],"field":"x"}`},
		{"", "400", `{"field":"account_update","value":{"waba_info":{"waba_id":500}}}`},
		{"", "500", `{"field":"account_update","value":{"waba_info":{"waba_id":500}}}`},
		{"", "400", `{"field":"account_update","value":{"waba_info":{"waba_id":"400"}}}`},
	}, got)
	for _, junk := range []string{``, `{`, `[]`, `null`, `"x"`, `{} {}`, `{"entry":[}`} {
		_, err := cloud.New(nil).Route([]byte(junk))
		require.Error(t, err, junk)
	}
	for _, nothing := range []string{`{}`, `{"entry":null}`, `{"entry":{}}`, `{"entry":[]}`} {
		parts, err := cloud.New(nil).Route([]byte(nothing))
		require.NoError(t, err)
		require.Empty(t, parts)
	}
}

// TestRouteIsCheap posts what would cost many times its size if every part
// were made, or every part had what stands beside it.
func TestRouteIsCheap(t *testing.T) {
	t.Parallel()
	p := cloud.New(nil)
	for name, body := range map[string]string{
		"changes": `{"entry":[{"changes":[` + strings.Repeat("0,", 1<<20) + `0]}]}`,
		"entries": `{"entry":[` + strings.Repeat(`{"changes":[0]},`, 1<<17) + `0]}`,
	} {
		_, err := p.Route([]byte(body))
		require.ErrorContains(t, err, "changes", name)
	}
	long := `{"entry":[{"time":"` + strings.Repeat("9", 1<<20) + `","changes":[` + strings.Repeat("{},", 900) + `{}]}]}`
	parts, err := p.Route([]byte(long))
	require.NoError(t, err)
	require.Len(t, parts, 901)
	for _, part := range parts {
		require.Len(t, part.Body, 2)
	}
	for _, deep := range []string{
		strings.Repeat(`{"entry":[`, 1<<18), strings.Repeat("[", 1<<20),
		`{"entry":[{"changes":[{"value":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}]}]}`,
	} {
		parts, _ := p.Route([]byte(deep))
		for _, part := range parts {
			p.Parse(part)
		}
	}
}

func TestKeysAndSecrets(t *testing.T) {
	t.Parallel()
	p := cloud.New(nil)
	ref, group := p.Keys(settings())
	require.Equal(t, []string{referenceID, accountID}, []string{ref, group})
	signing, verify := p.Secrets(settings())
	require.Equal(t, []string{"app secret", "verify word"}, []string{signing, verify})
	body := change("messages", `"messages":[]`)
	header := http.Header{graph.SignatureHeader: {graph.Sign(signing, body)}}
	require.True(t, p.Verify(signing, header, body))
	require.False(t, p.Verify(verify, header, body))
}

const contactAna = `"contacts":[{"profile":{"name":"Ana","username":"@ana"},"wa_id":"16505551234","user_id":"US.77"}],`

func TestText(t *testing.T) {
	t.Parallel()
	m := one[*provider.Message](t, change("messages", contactAna+`"messages":[{"from":"16505551234","id":"wamid.A\/b=","timestamp":"1760000000","type":"text",
		"text":{"body":"Gr\u00fc\u00dfe \ud83d\ude42"},"context":{"id":"wamid.Q","from":"15550783881","forwarded":true},"referral":{"source_type":"ad","source_id":120200100200300407}}]`))
	ana := provider.Address{ChatID: "16505551234", Phone: "16505551234", UserID: "US.77"}
	require.Equal(t, &provider.Message{
		ID: "wamid.A/b=", Chat: ana, From: provider.Contact{Address: ana, Name: "Ana", Username: "ana"},
		At: time.Unix(1760000000, 0).UTC(), Content: provider.Text{Text: "Grüße 🙂"}, ReplyTo: "wamid.Q", Forwarded: true,
		Referral: &provider.Referral{
			Source: "ad", SourceID: "120200100200300407",
			Body: json.RawMessage(`{"source_type":"ad","source_id":120200100200300407}`),
		},
	}, m)
}

func TestSenders(t *testing.T) {
	t.Parallel()
	const text = `"id":"m","type":"text","text":{"body":"x"}`
	for name, c := range map[string]struct {
		contacts, from string
		want           provider.Contact
	}{
		"phone only":                    {``, `"from":"16505551234",`, provider.Contact{Address: provider.Address{ChatID: "16505551234", Phone: "16505551234"}}},
		"phone with +":                  {``, `"from":"+16505551234",`, provider.Contact{Address: provider.Address{ChatID: "16505551234", Phone: "16505551234"}}},
		"phone as a number":             {``, `"from":16505551234,`, provider.Contact{Address: provider.Address{ChatID: "16505551234", Phone: "16505551234"}}},
		"user id only":                  {``, `"from_user_id":"US.77",`, provider.Contact{Address: provider.Address{ChatID: "US.77", UserID: "US.77"}}},
		"user id of a parent":           {``, `"from":"US.ENT.77",`, provider.Contact{Address: provider.Address{ChatID: "US.ENT.77", UserID: "US.ENT.77"}}},
		"user id in from":               {`"contacts":[{"profile":{"name":"Ana"},"wa_id":"US.77"}],`, `"from":"US.77",`, provider.Contact{Address: provider.Address{ChatID: "US.77", UserID: "US.77"}, Name: "Ana"}},
		"user id of the contact":        {`"contacts":[{"user_id":"US.77","profile":{"name":"Ana"}}],`, ``, provider.Contact{Address: provider.Address{ChatID: "US.77", UserID: "US.77"}, Name: "Ana"}},
		"phone of the contact":          {`"contacts":[{"wa_id":"16505551234"}],`, ``, provider.Contact{Address: provider.Address{ChatID: "16505551234", Phone: "16505551234"}}},
		"phone of the known user":       {`"contacts":[{"wa_id":"16505551234","user_id":"US.77"}],`, `"from_user_id":"US.77",`, provider.Contact{Address: provider.Address{ChatID: "16505551234", Phone: "16505551234", UserID: "US.77"}}},
		"number written in two ways":    {`"contacts":[{"wa_id":"5511987654321","profile":{"name":"Ana"}}],`, `"from":"551187654321",`, provider.Contact{Address: provider.Address{ChatID: "551187654321", Phone: "551187654321"}, Name: "Ana"}},
		"the right one of two":          {`"contacts":[{"wa_id":"1111","profile":{"name":"Bob"}},{"wa_id":"16505551234","profile":{"name":"Ana"}}],`, `"from":"16505551234",`, provider.Contact{Address: provider.Address{ChatID: "16505551234", Phone: "16505551234"}, Name: "Ana"}},
		"none of two":                   {`"contacts":[{"wa_id":"1111","profile":{"name":"Bob"}},{"wa_id":"2222"}],`, `"from":"16505551234",`, provider.Contact{Address: provider.Address{ChatID: "16505551234", Phone: "16505551234"}}},
		"another user":                  {`"contacts":[{"wa_id":"1111","user_id":"US.1","profile":{"name":"Bob"}}],`, `"from_user_id":"US.77",`, provider.Contact{Address: provider.Address{ChatID: "US.77", UserID: "US.77"}}},
		"contact without profile":       {`"contacts":[{"wa_id":"16505551234"}],`, `"from":"16505551234",`, provider.Contact{Address: provider.Address{ChatID: "16505551234", Phone: "16505551234"}}},
		"contact with a broken profile": {`"contacts":[{"profile":[],"wa_id":"16505551234"}],`, `"from":"16505551234",`, provider.Contact{Address: provider.Address{ChatID: "16505551234", Phone: "16505551234"}}},
		"contacts of another shape":     {`"contacts":{"a":[]},`, `"from":"16505551234",`, provider.Contact{Address: provider.Address{ChatID: "16505551234", Phone: "16505551234"}}},
		"a name of no rule":             {``, `"from":"somebody",`, provider.Contact{Address: provider.Address{ChatID: "somebody"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := one[*provider.Message](t, change("messages", c.contacts+`"messages":[{`+c.from+text+`}]`))
			require.Equal(t, c.want, m.From)
			require.Equal(t, c.want.Address, m.Chat)
			require.Zero(t, m.At, "no time on the wire")
		})
	}
}

func TestGroupText(t *testing.T) {
	t.Parallel()
	m := one[*provider.Message](t, change("messages", contactAna+`"messages":[{"from":"16505551234","group_id":"Y2Fw:1","id":"m","type":"text","text":{"body":"x"}}]`))
	require.Equal(t, provider.Address{ChatID: "Y2Fw:1@g.us", Group: true}, m.Chat)
	require.Equal(t, "16505551234", m.From.Phone)
	require.Equal(t, "Ana", m.From.Name)
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for wire, want := range map[string]time.Time{
		`"1760000000"`: time.Unix(1760000000, 0), `1760000000`: time.Unix(1760000000, 0), `"1760000000123"`: time.UnixMilli(1760000000123),
		`"soon"`: {}, `0`: {}, `{}`: {},
	} {
		m := one[*provider.Message](t, change("messages", `"messages":[{"from":"16505551234","id":"m","type":"text","text":{"body":"x"},"timestamp":`+wire+`}]`))
		require.True(t, want.Equal(m.At), wire)
	}
}

func TestUnknownMessages(t *testing.T) {
	t.Parallel()
	for wire, want := range map[string]provider.Content{
		`"type":"unsupported","errors":[{"code":131051}]`:       provider.Unknown{},
		`"type":"unsupported","unsupported":{"type":"poll"}`:    provider.Unknown{Kind: "poll"},
		`"type":"unsupported","text":{"body":"stray"}`:          provider.Unknown{},
		`"text":{"body":"no type, but a text"}`:                 provider.Text{Text: "no type, but a text"},
		`"type":"text","text":{"body":""}`:                      provider.Text{},
		`"type":"text","text":{"body":"x"},"context":null`:      provider.Text{Text: "x"},
		`"type":"text","text":{"body":"x"},"referral":"nobody"`: provider.Text{Text: "x"},
	} {
		m := one[*provider.Message](t, change("messages", `"messages":[{"from":"16505551234","id":"m",`+wire+`}]`))
		require.Equal(t, want, m.Content, wire)
		require.Nil(t, m.Referral)
	}
	for wire, kind := range map[string]string{
		`"type":"hologram","hologram":{"id":"1"}`:     "hologram",
		`"type":"unknown"`:                            "unknown",
		`"type":["text"]`:                             "",
		`"hologram":{}`:                               "",
		`"type":"image"`:                              "image",
		`"type":"image","image":"1003"`:               "image",
		`"type":"location","location":{"latitude":1}`: "location",
		`"type":"location","location":{"latitude":1,"longitude":"east"}`: "location",
		`"type":"reaction","reaction":{"emoji":"x"}`:                     "reaction",
		`"type":"contacts","contacts":{}`:                                "contacts",
		`"type":"interactive"`:                                           "interactive",
		`"type":"interactive","interactive":{"type":"button_reply"}`:     "button_reply",
		`"type":"interactive","interactive":{"type":"poll","poll":{}}`:   "poll",
		`"type":"order","order":[]`:                                      "order",
		`"type":"revoke","revoke":{}`:                                    "revoke",
		`"type":"edit","edit":{"message":{"type":"text","text":{}}}`:     "edit",
		`"type":"edit","edit":{"original_message_id":"o"}`:               "edit",
	} {
		item := `{"from":"16505551234","id":"m",` + wire + `}`
		m := one[*provider.Message](t, change("messages", `"messages":[`+item+`]`))
		require.Equal(t, provider.Unknown{Kind: kind, Body: json.RawMessage(item)}, m.Content, wire)
		require.Empty(t, m.Edits)
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	for wire, want := range map[string]provider.StatusChange{
		`"status":"sent","biz_opaque_callback_data":"own-1"`: {
			OwnID: "own-1", Status: provider.StatusSending,
		},
		`"status":"sent","conversation":{"id":"c","expiration_timestamp":"1760300000","origin":{"type":"referral_conversion"}}`: {
			Status: provider.StatusSending, WindowUntil: time.Unix(1760300000, 0).UTC(),
		},
		`"status":"sent","conversation":{"id":"c","expiration_timestamp":"1760300000","origin":{"type":"marketing"}}`: {
			Status: provider.StatusSending,
		},
		`"status":"delivered"`: {
			Status: provider.StatusDelivered,
		},
		`"status":"read","recipient_type":"group","recipient_id":"g"`: {
			Status: provider.StatusRead, To: provider.Address{ChatID: "g@g.us", Group: true},
		},
		`"status":"read","recipient_id":"16505551234","recipient_user_id":"US.77"`: {
			Status: provider.StatusRead, To: provider.Address{ChatID: "16505551234", Phone: "16505551234", UserID: "US.77"},
		},
		`"status":"read","recipient_participant_id":"16505551234"`: {
			Status: provider.StatusRead, Participant: "16505551234",
		},
		`"status":"read","recipient_participant_user_id":"US.1"`: {
			Status: provider.StatusRead, Participant: "US.1",
		},
		`"status":"played"`: {
			Status: provider.StatusPlayed,
		},
		`"status":"failed"`: {
			Status: provider.StatusFail, Error: &provider.Failure{Message: "the network gave no reason"},
		},
		`"status":"failed","errors":{}`: {
			Status: provider.StatusFail, Error: &provider.Failure{Message: "the network gave no reason"},
		},
		`"status":"failed","errors":[]`: {
			Status: provider.StatusFail, Error: &provider.Failure{Message: "the network gave no reason"},
		},
		`"status":"failed","errors":[{"code":131053,"title":"T"}]`: {
			Status: provider.StatusFail, Error: &provider.Failure{Code: "131053", Message: "T", Advice: "Meta could not fetch the file: it must be public, of a type that is taken, and not too large."},
		},
		`"status":"failed","errors":[{"code":"1","title":"T","details":"d"}]`: {
			Status: provider.StatusFail, Error: &provider.Failure{Code: "1", Message: "T: d"},
		},
		`"status":"failed","errors":[{"code":1,"error_data":"plain"}]`: {
			Status: provider.StatusFail, Error: &provider.Failure{Code: "1", Message: "plain"},
		},
		`"status":"failed","errors":[{"code":2,"title":"T","message":"M","error_data":{"details":"D"},"href":"/x"},{"code":3}]`: {
			Status: provider.StatusFail, Error: &provider.Failure{Code: "2", Message: "M: D"},
		},
		`"status":"sent","errors":[{"code":2}]`: {
			Status: provider.StatusSending,
		},
	} {
		want.MessageID, want.At = "wamid.1", time.Unix(1760000003, 0).UTC()
		got := one[*provider.StatusChange](t, change("messages", `"statuses":[{"id":"wamid.1","timestamp":"1760000003",`+wire+`}]`))
		require.Equal(t, &want, got, wire)
	}
	for _, wire := range []string{`"status":"warning"`, `"status":"deleted"`, `"status":7`, `"foo":1`} {
		require.Equal(t, "status", one[*provider.Raw](t, change("messages", `"statuses":[{"id":"wamid.1",`+wire+`}]`)).Kind)
	}
}

func TestBadItemsHarmNobody(t *testing.T) {
	t.Parallel()
	items := map[string]string{
		"messages": `{"from":"16505551234","type":"text","text":{"body":"no id"}},
			{"from":"16505551234","id":7.5,"type":"text","text":{"body":"x"}},
			{"from":"16505551234","id":"b1","type":"text","text":"a string"},
			{"from":"16505551234","id":"b2","type":"text"},
			{"from":"16505551234","id":{},"type":"edit"},
			{"id":"b4","type":"text","text":{"body":"nobody"}},
			{"id":"b5","from":"` + strings.Repeat("x", 300) + `","type":"text","text":{"body":"x"}},
			{"type":"image","image":{}},
			"text", 7, null, [],
			{"from":"16505551234","id":"good","type":"text","text":{"body":"fine"}}`,
		"statuses":       `{"status":"sent"},"read",[],{"id":"good","status":"read"}`,
		"message_echoes": `{"id":"b1","from":"15550783881","type":"text","text":{"body":"to nobody"}},7,{"id":"good","from":"15550783881","to":"16505551234","type":"text","text":{"body":"fine"}}`,
	}
	field := map[string]string{"messages": "messages", "statuses": "messages", "message_echoes": "smb_message_echoes"}
	want := map[string]int{"messages": 12, "statuses": 3, "message_echoes": 2}
	for name, wire := range items {
		events, bad := read(t, change(field[name], `"`+name+`":[`+wire+`]`))
		require.Len(t, events, 1, name)
		require.Len(t, bad, want[name], name)
		for _, b := range bad {
			require.NotEmpty(t, b.Reason)
			require.True(t, json.Valid(b.Body))
		}
	}
	events, bad := read(t, change("messages", `"messages":{},"statuses":[{"id":"s","status":"read"}],"errors":"x"`))
	require.Len(t, events, 1)
	require.Len(t, bad, 2)
	for _, body := range []string{`{"entry":[{"id":"1","changes":[7]}]}`, `{"entry":[{"id":"1","changes":[{"field":"messages"}]}]}`, `{"entry":[{"id":"1","changes":[{"field":"messages","value":[]}]}]}`} {
		events, bad = read(t, []byte(body))
		require.Empty(t, events)
		require.Len(t, bad, 1)
	}
	_, bad = cloud.New(nil).Parse(provider.Part{Body: json.RawMessage(`{"field":"messages","value":{"messages":[{]}}`)})
	require.Len(t, bad, 1, "a part from elsewhere may be no JSON")
}

func TestRepeatsInOneChange(t *testing.T) {
	t.Parallel()
	text := `{"from":"16505551234","id":"m","type":"text","text":{"body":"x"}}`
	image := `{"from":"16505551234","id":"i","type":"image","image":{}}`
	sent, seen := `{"id":"m","status":"sent"}`, `{"id":"m","status":"read","recipient_participant_id":"1111"}`
	other := `{"id":"m","status":"read","recipient_participant_id":"2222"}`
	events, bad := read(t, change("messages", `"messages":[`+strings.Join([]string{text, image, text, image}, ",")+`],"statuses":[`+strings.Join([]string{sent, seen, sent, other, seen}, ",")+`]`))
	require.Empty(t, bad)
	require.Len(t, events, 5)
}

func TestUnknownFields(t *testing.T) {
	t.Parallel()
	for field, c := range map[string]struct{ value, kind string }{
		"brand_new":                      {`"x":1`, "brand_new"},
		"":                               {`"x":1`, "unknown"},
		"messages":                       {`"surprise":[{}]`, "messages"},
		"history":                        {`"history":[{}]`, "history"},
		"smb_message_echoes":             {`"x":1`, "echo"},
		"calls":                          {`"x":1`, "call"},
		"group_settings_update":          {`"groups":[{"type":"x"}]`, "group"},
		"message_template_status_update": {`"event":"APPROVED"`, "template_status"},
		"user_preferences":               {`"user_preferences":[{"wa_id":"16505551234","value":"perhaps"}]`, "user_preference"},
		"user_id_update":                 {`"user_id_update":[{"wa_id":"16505551234"}]`, "user_id_update"},
		"smb_app_state_sync":             {`"state_sync":[{"type":"contact","action":"add"}]`, "contact_sync"},
	} {
		r := one[*provider.Raw](t, change(field, c.value))
		require.Equal(t, c.kind, r.Kind, field)
		require.NotEmpty(t, r.ID)
		require.True(t, json.Valid(r.Body))
	}
}

func TestReportIDsRecogniseRepeats(t *testing.T) {
	t.Parallel()
	at := func(at, event string) string {
		return one[*provider.Health](t, []byte(`{"entry":[{"id":"1","time":`+at+`,"changes":[{"field":"account_update","value":{"event":"`+event+`"}}]}]}`)).ID
	}
	first := at("100", "A")
	require.Equal(t, first, at("100", "A"))
	for _, other := range []string{at("101", "A"), at("100", "B")} {
		require.NotEqual(t, first, other)
	}
}

// TestParseIsLinear reads full bodies in which every item could make the
// reader look through all of them.
func TestParseIsLinear(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	fill := func(item string) string { return strings.Repeat(item+",", size/len(item)) + item }
	for field, value := range map[string]string{
		"messages": `"messages":[` + fill(`{"from":"1","id":"m"}`) + `],"contacts":[` + strings.Repeat(`{},`, 1<<18) + `{}]`,
		"history":  `"messages":[` + fill(`{"id":"m"}`) + `],"metadata":{}`,
		"calls":    `"calls":[` + fill(`{"from":"1"}`) + `]`,
	} {
		body := []byte(`{"field":"` + field + `","value":{` + value + `}}`)
		events, bad := cloud.New(nil).Parse(provider.Part{Body: body})
		require.NotEmpty(t, len(events)+len(bad))
	}
}
