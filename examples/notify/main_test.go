package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

const customer = "16505551234"

// meta returns a fake of Meta's API with an approved template, and the settings for it.
func meta(t *testing.T) (fake *graphtest.Server, settings map[string]string) {
	t.Helper()
	number := graphtest.Number{
		PhoneNumberID: "106540352242922", BusinessAccountID: "102290129340398",
		AccessToken: "token", AppSecret: "app secret", VerifyToken: "verify word",
	}
	fake = graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{number}})
	t.Cleanup(fake.Close)
	fake.Templates.Put(graphtest.Template{
		Account: number.BusinessAccountID, Name: "shipped", Language: "en_US", Category: "UTILITY", Status: "APPROVED", Format: "POSITIONAL",
		Components: []json.RawMessage{json.RawMessage(
			`{"type":"BODY","text":"Order {{1}} arrives {{2}}.","example":{"body_text":[["7","tomorrow"]]}}`)},
	})
	return fake, map[string]string{
		"APP_SECRET": "a secret of tests that is long enough", "PHONE_NUMBER_ID": number.PhoneNumberID,
		"BUSINESS_ACCOUNT_ID": number.BusinessAccountID, "ACCESS_TOKEN": number.AccessToken,
		"META_APP_SECRET": number.AppSecret, "VERIFY_TOKEN": number.VerifyToken,
	}
}

// TestReadme runs the lines of the README, at other addresses.
func TestReadme(t *testing.T) {
	t.Parallel()
	fake, settings := meta(t)
	var env []string
	for name, value := range settings {
		env = append(env, name+"="+value)
	}
	readme, addr := testkit.ReadExample(t), testkit.FreeAddress(t)
	sh := testkit.NewShell(t, env...)
	sh.Run(t, readme.Block(t, "start", "/notify &", "/notify -addr "+addr+" -graph "+fake.URL+" &"))
	testkit.AwaitListener(t, addr)
	out := sh.Run(t, readme.Block(t, "notify", "curl ", "curl -sS ", "localhost:4000", addr))
	require.Regexp(t, `^\{"message":"wamid\.`, out[0])
	_, err := fake.WaitShown(t.Context(), customer, 1)
	require.NoError(t, err)
	require.Len(t, fake.Shown(customer), 1)
}

// TestNotify asks for notices, again and at once and after a restart, and
// counts what is on the phone.
func TestNotify(t *testing.T) {
	meta, settings := meta(t)
	for name, value := range settings {
		t.Setenv(name, value)
	}
	database := "sqlite://" + filepath.Join(t.TempDir(), "notify.db")
	t.Setenv("ACCESS_TOKEN", "a wrong one")
	require.ErrorContains(t, run(t.Context(), testkit.FreeAddress(t), database, meta.URL), "token")
	t.Setenv("ACCESS_TOKEN", settings["ACCESS_TOKEN"])

	base, stop := start(t, database, meta.URL)
	notice := func(id, values string) string {
		return `{"id":"` + id + `","to":"` + customer + `","template":"shipped","language":"en_US","values":` + values + `}`
	}

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			status, _ := post(t, base, notice("order-7", `["7","tomorrow"]`))
			assert.Contains(t, []int{http.StatusCreated, http.StatusOK, http.StatusConflict}, status)
		})
	}
	wg.Wait()
	_, err := meta.WaitShown(t.Context(), customer, 1)
	require.NoError(t, err)
	require.Len(t, meta.Shown(customer), 1)
	status, first := post(t, base, notice("order-7", `["7","tomorrow"]`))
	require.Equal(t, http.StatusOK, status, first)
	status, answer := post(t, base, notice("order-7", `["7","today"]`))
	require.Equal(t, http.StatusConflict, status, answer)
	status, answer = post(t, base, notice("order-8", `["8"]`))
	require.Equal(t, http.StatusUnprocessableEntity, status, answer)
	status, answer = post(t, base, `{"to":"`+customer+`"}`)
	require.Equal(t, http.StatusBadRequest, status, answer)

	stop()
	base, stop = start(t, database, meta.URL)
	status, again := post(t, base, notice("order-7", `["7","tomorrow"]`))
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, first, again)
	status, _ = post(t, base, notice("order-9", `["9","tomorrow"]`))
	require.Equal(t, http.StatusCreated, status)
	shown, err := meta.WaitShown(t.Context(), customer, 2)
	require.NoError(t, err)
	require.Len(t, shown, 2)
	require.Equal(t, "shipped", shown[1].Template)
	stop()
}

func start(t *testing.T, database, graphURL string) (base string, stop func()) {
	t.Helper()
	addr := testkit.FreeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, addr, database, graphURL) }()
	base = "http://" + addr
	testkit.AwaitListener(t, addr)
	r, err := http.Post(base, "application/json", http.NoBody)
	require.NoError(t, err)
	_ = r.Body.Close()
	require.Equal(t, http.StatusBadRequest, r.StatusCode)
	return base, func() {
		cancel()
		require.NoError(t, <-done)
	}
}

func post(t *testing.T, base, body string) (status int, answer string) {
	res, err := http.Post(base, "application/json", strings.NewReader(body))
	if !assert.NoError(t, err) {
		return 0, ""
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	assert.NoError(t, err)
	return res.StatusCode, string(got)
}
