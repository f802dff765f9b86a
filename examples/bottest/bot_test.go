package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/sqldb"
)

// What the bot says is a function.
func TestAnswer(t *testing.T) {
	t.Parallel()
	require.Contains(t, answer("When are you OPEN?"), "9 to 18")
	require.Contains(t, answer("Where are you?"), "Market Street")
	require.Contains(t, answer("Hello"), "Somebody")
}

// The sandbox is a reference whose contacts are simulated: a talk without a network.
func TestTalk(t *testing.T) {
	t.Parallel()
	chats := start(t, "")
	acc := chats.For(messaging.OneAccount)
	line, err := acc.References().Create(t.Context(), messaging.NewReference{Name: "Test", Type: sandbox.Kind})
	require.NoError(t, err)
	ana := sandbox.Phone{Inbox: chats, Reference: line.ID, Name: "ana"}
	_, err = ana.Write(t.Context(), provider.Text{Text: "When are you open?"})
	require.NoError(t, err)
	require.Eventually(t, func() bool { // the newest first
		chat, err := acc.Messages(t.Context(), line.ID, "ana@sandbox", messaging.History{})
		return err == nil && len(chat.Items) == 2 && chat.Items[0].Status == "DELIVERED" && chat.Items[0].Text == answer("open")
	}, time.Minute, 10*time.Millisecond)
}

var number = graphtest.Number{
	PhoneNumberID: "106540352242922", BusinessAccountID: "102290129340398",
	AccessToken: "token", AppSecret: "app secret", VerifyToken: "verify word",
}

// The fake Graph API posts signed callbacks, checks what it is sent, and fails
// as the real one does: all that lies between the bot and the phone is tested.
func TestNumber(t *testing.T) {
	t.Parallel()
	meta := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{number}, Statuses: []string{"delivered"}})
	t.Cleanup(meta.Close)
	chats := start(t, meta.URL)
	web := httptest.NewServer(messaging.CallbackHandler(chats, nil))
	t.Cleanup(web.Close)
	meta.SetCallback(web.URL)
	_, err := chats.For(messaging.OneAccount).References().Create(t.Context(), messaging.NewReference{
		Name: "Shop", Type: "provider-cloud", Settings: map[string]string{
			"phoneNumberId": number.PhoneNumberID, "businessAccountId": number.BusinessAccountID,
			"accessToken": number.AccessToken, "appSecret": number.AppSecret, "verifyToken": number.VerifyToken,
		},
	})
	require.NoError(t, err)
	require.NoError(t, meta.Handshake(t.Context(), number.PhoneNumberID))

	meta.Fail(graphtest.Fault{Code: 2, Status: http.StatusInternalServerError, Transient: true}) // once
	_, err = meta.Write(t.Context(), graphtest.Inbound{From: "16505551234", Name: "Ana", Text: "Where are you?"})
	require.NoError(t, err)
	shown, err := meta.WaitShown(t.Context(), "16505551234", 1)
	require.NoError(t, err)
	require.Equal(t, answer("where"), shown[0].Text)
	require.Len(t, meta.Shown("16505551234"), 1, "the answer left again after the failure, and arrived once")
}

// The program starts, refuses a body that is not a callback, and ends.
func TestProgram(t *testing.T) {
	for name, value := range map[string]string{
		"APP_SECRET": "a secret of tests that is long enough", "PHONE_NUMBER_ID": "1", "BUSINESS_ACCOUNT_ID": "2",
		"ACCESS_TOKEN": "token", "META_APP_SECRET": "app secret", "VERIFY_TOKEN": "verify word",
	} {
		t.Setenv(name, value)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, addr, "sqlite://"+filepath.Join(t.TempDir(), "bot.db")) }()
	require.Eventually(t, func() bool {
		res, err := http.Post("http://"+addr, "application/json", http.NoBody)
		if err == nil {
			_ = res.Body.Close()
		}
		return err == nil && res.StatusCode == http.StatusBadRequest
	}, time.Minute, 10*time.Millisecond)
	stop()
	require.NoError(t, <-done)
}

// start runs a bot on a database of its own until the test ends.
func start(t *testing.T, graphURL string) *messaging.Service {
	t.Helper()
	db, err := sqldb.Open(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), "bot.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	chats, err := newChats(t.Context(), db, "a secret of tests that is long enough", graphURL)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- chats.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
	return chats
}
