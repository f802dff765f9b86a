package webhook_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/webhook"
)

// loud is a format that writes everything in capitals, and has no event that
// whispers.
type loud struct{ broken atomic.Bool }

func (*loud) Has(eventType string, body []byte) bool {
	return eventType == "message" && !strings.Contains(string(body), "whisper")
}

func (l *loud) Write(_ context.Context, d webhook.Draft) (webhook.Formatted, error) {
	if l.broken.Load() {
		return webhook.Formatted{}, errors.New("hoarse")
	}
	return webhook.Formatted{
		Body: []byte(strings.ToUpper(string(d.Body))),
		Headers: http.Header{
			"X-Loud": {strings.Join([]string{d.Type, d.Account, d.Scope, d.ChatID, d.URL[:5], d.Headers["X-Trunkline-Reference"], string(d.Key)}, " ")},
			// which are ours
			"X-Trunkline-Event": {"noise"}, "Webhook-Signature": {"none"}, "Content-Type": {"text/plain"},
		},
	}, nil
}

func inFormats(l *loud) webhook.Options {
	return webhook.Options{Formats: map[string]webhook.Format{"loud": l}, Policy: fast}
}

func TestFormatOfAnEndpoint(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, inFormats(&loud{}))
		const url = "https://hooks.example.com/in"
		ep := f.put(t, url)
		require.Equal(t, webhook.OwnFormat, ep.Format)
		ep, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: url, Format: "loud"})
		require.NoError(t, err)
		require.Equal(t, "loud", ep.Format)
		ep, _, err = f.Put(t.Context(), webhook.Settings{Scope: scope, URL: url})
		require.NoError(t, err)
		require.Equal(t, "loud", ep.Format, "it stays")
		ep, err = f.Endpoint(t.Context(), ep.ID)
		require.NoError(t, err)
		require.Equal(t, "loud", ep.Format)
		ep, err = f.Update(t.Context(), ep.ID, webhook.Change{Format: new(webhook.OwnFormat)})
		require.NoError(t, err)
		require.Equal(t, webhook.OwnFormat, ep.Format)

		var bad *webhook.Invalid
		_, _, err = f.Put(t.Context(), webhook.Settings{Scope: scope, URL: url, Format: "quiet"})
		require.ErrorAs(t, err, &bad)
		require.Equal(t, webhook.Invalid{Field: "format", Message: "must be one of trunkline, loud"}, *bad)
		_, err = f.Update(t.Context(), ep.ID, webhook.Change{Format: new("")})
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "format", bad.Field)
	})
}

// TestFormats sends the same events to an endpoint in their own form and to one
// in another, which hears only of what its format has.
func TestFormats(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, inFormats(&loud{}))
		own, other := receive(t, nil), receive(t, func(n int, _ request, w http.ResponseWriter) {
			if n == 1 {
				w.WriteHeader(http.StatusBadRequest) // to be tried again
			}
		})
		f.put(t, own.URL)
		ep, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: other.URL, Format: "loud", Secret: secretOf(24)})
		require.NoError(t, err)
		hush := event(chat(1), 2)
		hush.Body = []byte(`{"say":"whisper"}`)
		status := event(chat(1), 3)
		status.Type = "status"
		f.publish(t, event(chat(1), 1), hush, status, event(chat(1), 4))

		got, plain := other.wait(t, 3), own.wait(t, 4)
		require.Equal(t, `{"key":"chat1","n":1}`, plain[0].body)
		require.Empty(t, plain[0].header.Get("X-Loud"))
		require.Equal(t, []string{`{"KEY":"CHAT1","N":1}`, `{"KEY":"CHAT1","N":1}`, `{"KEY":"CHAT1","N":4}`}, []string{got[0].body, got[1].body, got[2].body})
		for i, n := range []int64{1, 1, 2} { // what the format lacks does not count
			require.Equal(t, n, got[i].seq())
			require.NoError(t, webhook.Verify(ep.Secret, got[i].header, []byte(got[i].body), time.Now()))
			require.Equal(t, "message acme 7 chat1 http: 7 "+strings.Repeat("s", 24), got[i].header.Get("X-Loud"))
			require.Equal(t, []string{"message"}, got[i].header.Values("X-Trunkline-Event"))
			require.Equal(t, []string{"application/json"}, got[i].header.Values("Content-Type"))
		}
		require.Equal(t, plain[0].header.Get("Webhook-Id"), got[0].header.Get("Webhook-Id"))
		require.Equal(t, got[0].header.Get("Webhook-Id"), got[1].header.Get("Webhook-Id"))
		f.until(t, func() bool { return outcomes(t, f, "delivered") == 6 })
		require.Len(t, other.all(), 3)

		// A replay is written again; one that the format lacks now is over.
		ds, _ := f.pages(t, webhook.DeliveryFilter{Endpoint: ep.ID})
		require.Len(t, ds, 2)
		replay := func() {
			n, err := f.Replay(t.Context(), webhook.Replay{IDs: []string{ds[0].ID}})
			require.NoError(t, err)
			require.Equal(t, 1, n)
		}
		replay()
		require.Equal(t, got[2].body, other.wait(t, 4)[3].body)
		f.until(t, func() bool { return outcomes(t, f, "delivered") == 6 }) // the log lists it before what follows
		_, err = f.Update(t.Context(), ep.ID, webhook.Change{Format: new(webhook.OwnFormat), Events: []string{"message", "status"}})
		require.NoError(t, err)
		f.publish(t, hush)
		require.Equal(t, string(hush.Body), other.wait(t, 5)[4].body)
		f.until(t, func() bool { return outcomes(t, f, "delivered") == 8 })
		_, err = f.Update(t.Context(), ep.ID, webhook.Change{Format: new("loud")})
		require.NoError(t, err)
		ds, _ = f.pages(t, webhook.DeliveryFilter{Endpoint: ep.ID})
		replay()
		f.until(t, func() bool {
			d, _ := f.pages(t, webhook.DeliveryFilter{Endpoint: ep.ID, State: "failed"})
			return len(d) == 1 && strings.Contains(d[0].Attempts[len(d[0].Attempts)-1].Error, "no such event")
		})
		require.Len(t, other.all(), 5)
	})
}

// TestFormatThatFails keeps events until they can be written.
func TestFormatThatFails(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		l := &loud{}
		l.broken.Store(true)
		opts := inFormats(l)
		opts.Policy.Retries = slices.Repeat([]time.Duration{10 * time.Millisecond}, 4000) // enough until it is written
		f, rec := running(t, db, opts), receive(t, nil)
		ep, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: rec.URL, Format: "loud", Secret: secretOf(24)})
		require.NoError(t, err)
		f.publish(t, event(chat(1), 1), event(chat(1), 2))
		_, err = f.Test(t.Context(), ep.ID, event(chat(1), 0))
		require.ErrorContains(t, err, "hoarse")
		require.Empty(t, rec.all())
		l.broken.Store(false)
		got := rec.wait(t, 2)
		require.Equal(t, []string{`{"KEY":"CHAT1","N":1}`, `{"KEY":"CHAT1","N":2}`}, []string{got[0].body, got[1].body})
		ep, err = f.Endpoint(t.Context(), ep.ID)
		require.NoError(t, err)
		require.Equal(t, webhook.StateOK, ep.State)
		a, err := f.Test(t.Context(), ep.ID, event(chat(1), 0))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, a.StatusCode)
		require.Equal(t, `{"KEY":"CHAT1","N":0}`, rec.wait(t, 3)[2].body)
	})
}

// TestFormatThatIsNotThere leaves what waits to a process that knows it.
func TestFormatThatIsNotThere(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, rec := setup(t, db, inFormats(&loud{})), receive(t, nil)
		_, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: rec.URL, Format: "loud", Secret: secretOf(24)})
		require.NoError(t, err)
		without := running(t, db, webhook.Options{Policy: fast})
		without.publish(t, event(chat(1), 1))
		f.until(t, func() bool {
			ds, _ := without.pages(t, webhook.DeliveryFilter{State: "pending"})
			return len(ds) == 1
		})
		without.stop()
		require.Empty(t, rec.all())
		f.start(t)
		require.Equal(t, `{"KEY":"CHAT1","N":1}`, rec.wait(t, 1)[0].body)
	})
}

// TestListenersOfFormats leaves out who cannot be told.
func TestListenersOfFormats(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, inFormats(&loud{}))
		_, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: "https://hooks.example.com/loud", Format: "loud"})
		require.NoError(t, err)
		own := f.put(t, "https://hooks.example.com/own")
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			for kind, want := range map[string]int{"message": 2, "subscription": 1} {
				eps, err := f.ListenersTx(t.Context(), tx, kind)
				require.NoError(t, err)
				require.Len(t, eps, want, kind)
				require.Equal(t, own.ID, eps[want-1].ID)
			}
			return nil
		}))
	})
}
