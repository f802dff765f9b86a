package main_test

import (
	"context"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

const secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"

// TestReceiver runs the program by the line of the README, delivers to it, posts
// to it what a stranger could, and restarts it.
func TestReceiver(t *testing.T) {
	t.Parallel()
	line := testkit.ReadExample(t).Block(t, "start", "whsec_…", secret)
	out, err := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(line, secret, "")).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "WEBHOOK_SECRET")

	dir := t.TempDir()
	p := start(t, dir, line)
	deliver(t, "http://"+p.addr, `{"text":"Hello"}`, `{"text":"How are you?"}`)
	p.prints(t, `message 1: {"text":"Hello"}`)
	p.prints(t, `message 2: {"text":"How are you?"}`)

	now := time.Now()
	post := func(want int, change func(*sent)) {
		t.Helper()
		s := sent{secret: secret, id: "msg_1", at: now, body: `{"text":"Bye"}`}
		if change != nil {
			change(&s)
		}
		require.Equal(t, want, s.post(t, p.addr))
	}
	post(401, func(s *sent) { s.secret = "whsec_" + strings.Repeat("QUFB", 8) })
	post(401, func(s *sent) { s.at = now.Add(-6 * time.Minute) })
	post(401, func(s *sent) { s.at = now.Add(6 * time.Minute) })
	post(401, func(s *sent) { s.instead = `{"text":"Bye!"}` })
	post(401, func(s *sent) { s.signature = "v1,AAAA" })
	post(400, func(s *sent) { s.body = strings.Repeat("x", 1<<20+1) })
	post(204, nil)
	post(204, nil)
	p.prints(t, `message 9: {"text":"Bye"}`)

	p.sh.Kill()
	p = start(t, dir, line)
	post(204, nil) // it remembers
	post(204, func(s *sent) { s.id, s.body = "msg_2", `{"text":"Back again"}` })
	p.prints(t, `message 9: {"text":"Back again"}`)
}

// program is the example, running.
type program struct {
	addr string
	sh   *testkit.Shell
}

// start runs the line in a folder, at another address.
func start(t *testing.T, dir, line string) *program {
	t.Helper()
	p := &program{testkit.FreeAddress(t), testkit.NewShell(t)}
	p.sh.Send(t, "cd '"+dir+"'\n"+strings.ReplaceAll(line, "127.0.0.1:4000", p.addr))
	testkit.AwaitListener(t, p.addr)
	return p
}

func (p *program) prints(t *testing.T, want string) {
	t.Helper()
	require.Equal(t, want, p.sh.Line(t))
}

// deliver publishes bodies to a dispatcher of their own, until they are
// delivered.
func deliver(t *testing.T, url string, bodies ...string) {
	t.Helper()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	require.NoError(t, webhook.Migrate(t.Context(), db))
	d, err := webhook.New(t.Context(), db, &webhook.Options{
		Secrets: []string{"a secret of tests that is long enough"}, Allow: []string{"127.0.0.1"}, HeaderPrefix: "X-Trunkline-",
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	acc := d.For(webhook.OneAccount)
	_, _, err = acc.Put(t.Context(), webhook.Settings{Scope: "shop", URL: url, Secret: secret})
	require.NoError(t, err)
	publish(t, db, d, bodies)
	testkit.UntilCommitted(t, db, func() bool {
		log, err := acc.Deliveries(t.Context(), webhook.DeliveryFilter{Scope: "shop", State: "delivered"})
		return err == nil && len(log.Items) == len(bodies)
	})
	cancel()
	require.NoError(t, <-done)
}

func publish(t *testing.T, db *sqlx.DB, d *webhook.Dispatcher, bodies []string) {
	t.Helper()
	tx, err := db.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	for _, body := range bodies {
		require.NoError(t, d.PublishTx(t.Context(), tx, webhook.Event{
			Account: webhook.OneAccount, Scope: "shop", Type: "message", Key: "customer 7", Body: []byte(body),
		}))
	}
	require.NoError(t, tx.Commit())
}

// sent is a request that the official library signs.
type sent struct {
	secret, id, body string
	at               time.Time
	instead          string // sent in place of the signed body
	signature        string // sent in place of the right one
}

func (s sent) post(t *testing.T, addr string) int {
	t.Helper()
	wh, err := standardwebhooks.NewWebhook(s.secret)
	require.NoError(t, err)
	signature, err := wh.Sign(s.id, s.at, []byte(s.body))
	require.NoError(t, err)
	if s.instead != "" {
		s.body = s.instead
	}
	if s.signature != "" {
		signature = s.signature
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr, strings.NewReader(s.body))
	require.NoError(t, err)
	req.Header.Set("webhook-id", s.id)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(s.at.Unix(), 10))
	req.Header.Set("webhook-signature", signature)
	req.Header.Set("X-Trunkline-Event", "message")
	req.Header.Set("X-Trunkline-Sequence", "9")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}
