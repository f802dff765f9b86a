package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/webhook"
)

// brittle is a format that cannot write what is cracked, panics at what is
// broken, and has no header for what is split.
type brittle struct{}

func (brittle) Has(_ string, body []byte) bool {
	if strings.Contains(string(body), "broken") {
		panic("it broke")
	}
	return true
}

func (brittle) Write(_ context.Context, d webhook.Draft) (webhook.Formatted, error) {
	switch {
	case strings.Contains(string(d.Body), "cracked"):
		return webhook.Formatted{}, errors.New("it is cracked")
	case strings.Contains(string(d.Body), "broken"):
		panic("it broke")
	case strings.Contains(string(d.Body), "split"):
		return webhook.Formatted{Body: d.Body, Headers: http.Header{"X-Odd": {"a\r\nb: c"}}}, nil
	}
	return webhook.Formatted{Body: d.Body, Headers: http.Header{"webhook-signature": {"none"}}}, nil
}

// TestEventThatNoFormatWrites lets what cannot be written for good hold back
// nothing but its own chat, and be dead in the end, with a word in the log.
func TestEventThatNoFormatWrites(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		policy := fast
		policy.Retries = []time.Duration{time.Millisecond, time.Millisecond}
		f, rec := running(t, db, webhook.Options{Formats: map[string]webhook.Format{"brittle": brittle{}}, Policy: policy}), receive(t, nil)
		_, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: rec.URL, Format: "brittle"})
		require.NoError(t, err)
		bodies := []string{`"cracked"`, `"broken"`, `"split"`}
		for i, body := range bodies {
			ev := event(chat(i), i)
			ev.Body = []byte(body)
			f.publish(t, ev)
		}
		for i := range bodies { // behind them
			f.publish(t, event(chat(i), 10+i))
		}
		rec.wait(t, len(bodies))
		f.until(t, func() bool {
			ds, _ := f.pages(t, webhook.DeliveryFilter{State: "dead"})
			return len(ds) == len(bodies)
		})
		ds, _ := f.pages(t, webhook.DeliveryFilter{State: "dead"})
		for _, d := range ds {
			require.Len(t, d.Attempts, 3)
			require.Equal(t, "it cannot be written in the endpoint's format", d.Attempts[0].Error)
		}
		for _, r := range rec.all() {
			require.Len(t, r.header.Values("Webhook-Signature"), 1)
			require.NotEqual(t, "none", r.header.Get("Webhook-Signature"))
		}
	})
}

// TestBacklogInFormats routes many events at once, of which a format has some.
func TestBacklogInFormats(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, rec, other := setup(t, db, inFormats(&loud{})), receive(t, nil), receive(t, nil)
		for _, url := range []string{rec.URL, other.URL} {
			_, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: url, Format: "loud", Secret: secretOf(24)})
			require.NoError(t, err)
		}
		const all = 450
		evs := make([]webhook.Event, all)
		for i := range evs {
			evs[i] = event(chat(1), i)
			if i%3 == 0 {
				evs[i].Body = []byte(`{"say":"whisper"}`)
			}
		}
		f.publish(t, evs...)
		f.start(t)
		got := rec.wait(t, all*2/3)
		other.wait(t, all*2/3)
		for i, r := range got {
			require.Equal(t, int64(i+1), r.seq())
			require.Equal(t, fmt.Sprintf(`{"KEY":"CHAT1","N":%d}`, i/2*3+i%2+1), r.body)
		}
	})
}
