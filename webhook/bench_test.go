package webhook_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

// payload has the size of a usual text message's.
var payload = fmt.Appendf(nil, `{"reference":7,"ref":7,"remoteJid":"5511999990000::single","mine":false,"id":"wamid.%s","pushName":"Ana","verifiedBizName":"","messageTimestamp":1767225600,"type":"text","status":"DELIVERED","text":"%s"}`,
	bytes.Repeat([]byte("x"), 40), bytes.Repeat([]byte("y"), 250))

func benchEvent(i int) webhook.Event {
	ev := event(fmt.Sprintf("chat%d", i%1000), i)
	ev.Body, ev.MessageID = payload, "wamid"
	return ev
}

// BenchmarkPublish stores events in transactions of a size; ops are events.
func BenchmarkPublish(b *testing.B) {
	for _, size := range []int{1, 64} {
		b.Run(fmt.Sprint("tx", size), func(b *testing.B) {
			testkit.BenchmarkEach(b, func(b *testing.B, db *sqlx.DB) {
				f := setup(b, db, webhook.Options{})
				_, _, err := f.Put(b.Context(), webhook.Settings{Scope: scope, URL: "http://127.0.0.1:9"})
				require.NoError(b, err)
				n := 0
				for b.Loop() {
					evs := make([]webhook.Event, size)
					for i := range evs {
						evs[i] = benchEvent(n + i)
					}
					f.publish(b, evs...)
					n += size
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
			})
		})
	}
}

// BenchmarkVerify checks a delivery as a receiver does.
func BenchmarkVerify(b *testing.B) {
	secret := secretOf(32)
	at := event("k", 1).At
	h := signed(b, secret, "id", at, string(payload))
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		if err := webhook.Verify(secret, h, payload, at); err != nil {
			b.Fatal(err)
		}
	}
}
