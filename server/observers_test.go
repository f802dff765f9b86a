package server_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// gauge reads one value of the metrics, −1 when it is not there.
func gauge(t *testing.T, f fixture, series string) float64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(metrics(t, f))
	if m == nil {
		return -1
	}
	n, err := strconv.ParseFloat(m[1], 64)
	require.NoError(t, err)
	return n
}

// TestActivityIsCounted counts what comes in, goes out and is delivered.
func TestActivityIsCounted(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, _ int, g *graphtest.Server) {
		ref := ana.sandbox(t)
		ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q,"events":["message"]}`, ref, echoURL)).json(201)
		ana.write(t, ref, "ana", "Hello")
		ana.send(t, ref, "Hi")
		_, err := g.Write(t.Context(), graphtest.Inbound{From: contact, Text: "Hello"})
		require.NoError(t, err)
		for series, want := range map[string]float64{
			`trunkline_received_total{kind="provider-sandbox",what="message"}`:      1,
			`trunkline_received_total{kind="provider-cloud",what="message"}`:        1,
			`trunkline_send_attempts_total{kind="provider-sandbox",outcome="sent"}`: 1,
			`trunkline_webhook_attempt_duration_seconds_count{outcome="delivered"}`: 2,
			`trunkline_webhook_delivery_seconds_count{outcome="delivered"}`:         2,
			`trunkline_webhook_delivery_seconds_count{outcome="dead"}`:              0,
			`trunkline_sessions{kind="provider-sandbox",state="CONNECTED"}`:         1,
			`trunkline_dead_letters`:                                                                             0,
			`trunkline_probe_failing{cause="database"}`:                                                          0,
			`trunkline_webhook_endpoints{state="ok"}`:                                                            1,
			`trunkline_webhook_endpoints{state="paused"}`:                                                        0,
			`trunkline_webhook_oldest_pending_seconds`:                                                           0,
			`trunkline_queue_fenced_total{queue="webhook"}`:                                                      0,
			`trunkline_queue_fenced_total{queue="send"}`:                                                         0,
			`trunkline_queue_length{queue="send"}`:                                                               0,
			`trunkline_queue_length{queue="webhook"}`:                                                            0,
			`trunkline_queue_oldest_seconds{queue="webhook"}`:                                                    0,
			`trunkline_http_request_duration_seconds_count{code="200",method="POST",route="/webhooks/provider"}`: 1,
		} {
			ana.until(t, func() bool { return gauge(t, ana.fixture, series) == want }, "%s is %v", series, gauge(t, ana.fixture, series))
		}
	})
}

// TestQueuesAreShown while nobody works.
func TestQueuesAreShown(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	for range 3 {
		ana.call(t, "POST", "/chats/send?wait=0", sendBody(ref, "ana", `{"type":"text","text":"x"}`)).json(200)
	}
	require.InDelta(t, 3, gauge(t, f, `trunkline_queue_length{queue="send"}`), 0)
}

// TestPendingAges while an endpoint refuses.
func TestPendingAges(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	f := setupOn(t, db, local)
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	ana.hook(t, ref, 200)
	ana.write(t, ref, "ana", "Hello")
	db.MustExec(`UPDATE webhook_event SET at_us = at_us - 3600000000`)
	age := gauge(t, f, `trunkline_webhook_oldest_pending_seconds`)
	require.Greater(t, age, 3599.0)
	require.Less(t, age, 7200.0)
}

// TestMetricsWithoutDatabase shows what needs none.
func TestMetricsWithoutDatabase(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	f := setupOn(t, db, nil)
	require.NoError(t, db.Close())
	text := metrics(t, f)
	require.Contains(t, text, "trunkline_build_info")
	require.NotContains(t, text, "trunkline_queue_length{")
	require.Contains(t, text, `trunkline_probe_failing{cause="database"} 1`)
}
