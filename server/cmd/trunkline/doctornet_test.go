package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestDoctorOfNetworks tries the tokens of references, and the networks that they
// need, with and without one that answers.
func TestDoctorOfNetworks(t *testing.T) {
	t.Parallel()
	ends := time.Now().Add(24 * time.Hour)
	meta := graphtest.Start(&graphtest.Options{
		Numbers: []graphtest.Number{{PhoneNumberID: "1", BusinessAccountID: "2", AccessToken: "good"}},
		Pages:   []graphtest.Page{{ID: "3", AccessToken: "ending", TokenExpires: ends}},
	})
	t.Cleanup(meta.Close)
	whatsapp := webtest.Start(nil)
	t.Cleanup(whatsapp.Close)
	data := t.TempDir()
	p, base := start(t, nil, "--data", data)
	_, session := post(t, base+"/user/signup", account)
	for _, ref := range []string{
		`{"name":"A","type":"provider-cloud","settings":{"phoneNumberId":"1","businessAccountId":"2","accessToken":"good","appSecret":"s","verifyToken":"v"}}`,
		`{"name":"B","type":"provider-cloud","settings":{"phoneNumberId":"9","businessAccountId":"2","accessToken":"canary-wrong","appSecret":"s","verifyToken":"v"}}`,
		`{"name":"C","type":"provider-messenger","settings":{"pageId":"3","accessToken":"ending","appSecret":"s","verifyToken":"v"}}`,
		`{"name":"D","type":"provider-web"}`,
		`{"name":"E","type":"provider-cloud","settings":{"phoneNumberId":"8","businessAccountId":"2","accessToken":"stopped","appSecret":"s","verifyToken":"v"}}`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/reference", strings.NewReader(ref))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+session["token"].(string))
		req.Header.Set("Content-Type", "application/json")
		status, answer := send(t, req)
		require.Equal(t, 201, status, answer)
	}
	p.terminate(t)
	db := testkit.Open(t, databaseIn(data))
	db.MustExec(`UPDATE messaging_reference SET state = CASE WHEN name = 'E' THEN 'STOPPED' ELSE 'CONNECTED' END, error_code = '', error_message = ''`)
	db.MustExec(`UPDATE server_probe SET at_us = 0`)

	env := append(whatsapp.Environ(), "TRUNKLINE_DATA="+data)
	args := []string{"--addr", "127.0.0.1:0", "--graph-url", meta.URL}
	got := examined(t, env, 1, args...)
	require.Equal(t, []finding{
		{Check: "network", State: stateOK, Text: "https://web.whatsapp.com answers"},
		{Check: "network", State: stateOK, Text: meta.URL + " answers"},
	}, got["network"])
	require.Equal(t, []finding{
		{"tokens", stateBad, "the access token of reference 2 is not valid", "give the reference a new access token, and start its session"},
		{"tokens", stateWarn, "the access token of reference 3 expires on " + ends.UTC().Format(time.DateOnly), "give the reference a new one before that day, for example one of a system user, which does not expire"},
		{Check: "tokens", State: stateOK, Text: "1 of 3 are valid"},
	}, got["tokens"])
	require.NotContains(t, fmt.Sprint(got), "canary")
	for _, f := range got["clock"] {
		require.Equal(t, stateOK, f.State, "%v", f)
	}

	meta.Close()
	whatsapp.Close()
	got = examined(t, env, 1, args...)
	require.Equal(t, stateBad, got["network"][0].State)
	require.Contains(t, got["network"][0].Text, "https://web.whatsapp.com cannot be reached: ")
	require.Contains(t, got["network"][1].Text, meta.URL+" cannot be reached: ")
	require.Empty(t, got["tokens"], "nobody was there to tell")
}

// TestDoctorOfServices looks at what a server may be given: models, a mail
// server, a place for files, a port for metrics.
func TestDoctorOfServices(t *testing.T) {
	t.Parallel()
	models := llmtest.NewServer()
	t.Cleanup(models.Close)
	models.RequireKey("key")
	box := testkit.MailServer(t, testkit.MailOptions{})
	bucket := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(bucket.Close)
	keys := []string{"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b"}
	one := func(check string, want int, args ...string) finding {
		t.Helper()
		got := examined(t, keys, want, append([]string{"--addr", "127.0.0.1:0"}, args...)...)
		require.Len(t, got[check], 1)
		return got[check][0]
	}
	openai := func(key string) []string { return []string{"--openai-url", models.OpenAI(), "--openai-key", key} }
	require.Equal(t, finding{Check: "models", State: stateOK, Text: "openai has 2"}, one("models", 0, append(openai("key"), "--model", "openai/model-1")...))
	f := one("models", 1, openai("canary-wrong")...)
	require.Contains(t, f.Text, "openai does not list its models: llm.forbidden: ")
	require.NotContains(t, f.Text, "canary")
	require.Equal(t, "correct --openai-url or --openai-key", f.Cure)
	require.Equal(t, finding{"models", stateWarn, "openai does not list model-9", "set another --model"},
		examined(t, nil, 0, append(openai("key"), "--addr", "127.0.0.1:0", "--model", "openai/model-9")...)["models"][1])

	require.Equal(t, finding{Check: "mail", State: stateOK, Text: "the login succeeded"}, one("mail", 0, "--smtp-url", "smtp://"+box.Addr+"?from=a@example.org"))
	f = one("mail", 1, "--smtp-url", "smtp://u:canary@127.0.0.1:1?from=a@example.org")
	require.Equal(t, "correct the address, the user or the password in --smtp-url", f.Cure)
	require.NotContains(t, f.Text, "canary")
	require.Empty(t, box.Delivered(t))

	s3 := func(endpoint string) string { return "s3://files?region=us-east-1&endpoint=" + endpoint }
	require.Equal(t, finding{Check: "media", State: stateOK, Text: "the bucket exists"}, one("media", 0, "--media", s3(bucket.URL)))
	require.Equal(t, stateBad, one("media", 1, "--media", s3("http://127.0.0.1:1")).State)
	require.Contains(t, one("media", 0, "--media", t.TempDir()).Text, "MiB are free in ")
	require.Contains(t, one("media", 1, "--media", file(t, "x")).Text, "cannot be used: not a directory")

	addr := testkit.FreeAddress(t)
	require.Contains(t, one("metrics", 0, "--metrics-addr", addr).Text, "is free")
	_, _ = start(t, nil, "--metrics-addr", addr)
	require.Equal(t, addr+" serves them", one("metrics", 0, "--metrics-addr", addr).Text)
	f = one("metrics", 1, "--metrics-addr", strings.TrimPrefix(bucket.URL, "http://"))
	require.Contains(t, f.Text, "it does not serve the metrics of trunkline")
}

// TestDoctorOfAddresses comes by the way that others come, which is a proxy
// here, and finds a server of another version.
func TestDoctorOfAddresses(t *testing.T) {
	t.Parallel()
	addr := testkit.FreeAddress(t)
	_, base := start(t, nil, "--addr", addr)
	target, err := url.Parse(base)
	require.NoError(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	t.Cleanup(proxy.Close)
	args := []string{"--addr", addr, "--base-url", "http://chat.example.org"}
	got := examined(t, []string{"HTTP_PROXY=" + proxy.URL}, 0, args...)["address"]
	require.Equal(t, finding{"address", stateWarn, "http://chat.example.org is not encrypted", "Meta calls https only: use a proxy with a certificate, or set --tls-cert"}, got[0])
	require.Equal(t, finding{Check: "address", State: stateOK, Text: "http://chat.example.org is the address of trunkline " + programVersion()}, got[1])
	proxy.Close()
	got = examined(t, []string{"HTTP_PROXY=" + proxy.URL}, 1, args...)["address"]
	require.Contains(t, got[1].Text, "http://chat.example.org is not the address of this server: ")

	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"status":"ok","version":"0.0.1","database":"sqlite"}`))
	}))
	t.Cleanup(other.Close)
	require.Equal(t, finding{"port", stateWarn, "trunkline 0.0.1 runs there, but this program is " + programVersion(), "restart the server after an upgrade"},
		examined(t, nil, 0, "--addr", strings.TrimPrefix(other.URL, "http://"))["port"][0])
}

// TestDoctorOfTargets tells endpoints that were given up from those that answer.
func TestDoctorOfTargets(t *testing.T) {
	t.Parallel()
	there := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(there.Close)
	data := t.TempDir()
	p, base := start(t, nil, "--data", data, "--webhook-allow", "127.0.0.1")
	_, session := post(t, base+"/user/signup", account)
	for range 2 {
		register(t, base, session["token"].(string), there.URL)
	}
	p.terminate(t)
	look := func(want int, more ...string) []finding {
		return examined(t, nil, want, append([]string{"--addr", "127.0.0.1:0", "--data", data}, more...)...)["webhooks"]
	}
	require.Equal(t, []finding{{Check: "webhooks", State: stateOK, Text: "2 of 2 can be reached"}}, look(0, "--webhook-allow", "127.0.0.1"))
	require.Contains(t, look(1)[0].Text, "private address refused", "the server would not call it either")
	db := testkit.Open(t, databaseIn(data))
	db.MustExec(`UPDATE webhook_endpoint SET enabled = FALSE, last_error = 'answered 500' WHERE id = (SELECT min(id) FROM webhook_endpoint)`)
	db.MustExec(`UPDATE webhook_endpoint SET pauses = 1, last_error = 'timeout' WHERE id = (SELECT max(id) FROM webhook_endpoint)`)
	got := look(0)
	require.Equal(t, "the endpoint at "+there.URL+" is disabled: answered 500", got[0].Text)
	require.Equal(t, "the endpoint at "+there.URL+" is down: timeout", got[1].Text)
}

// TestDoctorOfClocks sets the clock of this machine off.
func TestDoctorOfClocks(t *testing.T) {
	t.Parallel()
	peer := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(peer.Close)
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, migrate(t.Context(), db))
		db.MustExec(`INSERT INTO server_probe (id, at_us, room) VALUES (1, $1, '')`, time.Now().UnixMicro())
		for off, want := range map[time.Duration]string{0: stateOK, -time.Hour: stateBad} {
			d := &doctor{db: db, now: func() time.Time { return time.Now().Add(off) }}
			d.written(t.Context())
			d.network(t.Context(), peer.Client(), peer.URL)
			if db.DriverName() != "sqlite" {
				d.postgres(t.Context())
			}
			clocks := 0
			for _, f := range d.findings {
				if f.Check == "clock" {
					require.Equal(t, want, f.State, "%v", f)
					clocks++
				}
			}
			require.Equal(t, map[bool]int{true: 2, false: 3}[db.DriverName() == "sqlite"], clocks)
		}
	})
}

// TestDoctorOfSlowNetworks takes the time of an answer for no difference of
// clocks.
func TestDoctorOfSlowNetworks(t *testing.T) {
	t.Parallel()
	var passed atomic.Int64
	begin := time.Now()
	now := func() time.Time { return begin.Add(time.Duration(passed.Load())) }
	for ahead, want := range map[time.Duration]string{0: stateOK, time.Minute: stateBad, -time.Minute: stateBad} {
		peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			passed.Add(int64(askTimeout - time.Second))
			w.Header().Set("Date", now().Add(ahead).UTC().Format(http.TimeFormat))
		}))
		t.Cleanup(peer.Close)
		d := &doctor{now: now}
		require.True(t, d.network(t.Context(), peer.Client(), peer.URL))
		require.Equal(t, want, d.findings[1].State, "%v", d.findings)
	}
}

// TestDoctorOfDays lets a certificate grow old, and a disk fill.
func TestDoctorOfDays(t *testing.T) {
	t.Parallel()
	cert, key := testkit.Certificate(t, t.TempDir(), 1) // for an hour
	for after, want := range map[time.Duration]string{-20 * 24 * time.Hour: stateOK, 0: stateWarn, 2 * time.Hour: stateBad} {
		d := &doctor{set: settings{TLSCert: cert, TLSKey: key}, now: func() time.Time { return time.Now().Add(after) }}
		d.certificate()
		require.Equal(t, want, d.findings[0].State, "%v", d.findings)
	}
	for free, want := range map[uint64]string{leastFree - 1: stateBad, littleFree - 1: stateWarn, littleFree: stateOK} {
		d := &doctor{}
		d.free("data", "there", free)
		require.Equal(t, want, d.findings[0].State, "%v", d.findings)
	}
	d := &doctor{}
	require.False(t, d.room("data", file(t, "x")+"/below", "--data"))
	require.Equal(t, stateBad, d.findings[0].State)
	require.True(t, d.room("data", t.TempDir(), "--data"))
}
