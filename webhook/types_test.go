package webhook_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

// TestTypesOfACaller delivers events whose types are the caller's own, to endpoints that
// ask for one, for some or for all of them. Nothing in a request names this module.
func TestTypesOfACaller(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		got := make(chan *http.Request, 20)
		srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r }))
		t.Cleanup(srv.Close)
		d, err := webhook.New(t.Context(), db, &webhook.Options{Secrets: []string{sealing}, Allow: []string{"127.0.0.1"}})
		require.NoError(t, err)
		shop := d.For(account)
		for path, events := range map[string][]string{
			"/all": nil, "/star": {"*"}, "/orders": {"order.*"}, "/created": {"order.created"}, "/europe": {"order.created.*", "refund"}, "/users": {"user.*", "orders"},
		} {
			ep, _, err := shop.Put(t.Context(), webhook.Settings{Scope: scope, URL: srv.URL + path, Events: events})
			require.NoError(t, err)
			if events != nil {
				require.Equal(t, events, ep.Events)
			} else {
				require.Equal(t, []string{"*"}, ep.Events)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		t.Cleanup(func() { stop(); <-ended })
		for _, c := range []struct {
			event string
			paths []string
		}{
			{"order.created", []string{"/all", "/star", "/orders", "/created"}},
			{"order.created.eu_1", []string{"/all", "/star", "/orders", "/europe"}},
			{"order", []string{"/all", "/star"}},
			{"refund", []string{"/all", "/star", "/europe"}},
			{"user.signed-up", []string{"/all", "/star", "/users"}},
		} {
			require.NoError(t, d.Publish(t.Context(), webhook.Event{Account: account, Scope: scope, Type: c.event, Key: c.event, Body: []byte(`{}`)}))
			var paths []string
			for range c.paths {
				r := <-got
				paths = append(paths, r.URL.Path)
				require.Equal(t, c.event, r.Header.Get("Webhook-Event"))
				require.Equal(t, "1", r.Header.Get("Webhook-Sequence"))
				require.Equal(t, "Webhook", r.UserAgent())
				for name, values := range r.Header {
					require.NotContains(t, strings.ToLower(name+strings.Join(values, "")), "trunkline")
				}
			}
			require.ElementsMatch(t, c.paths, paths, c.event)
		}
		stop()
		page, err := shop.Deliveries(t.Context(), webhook.DeliveryFilter{Scope: scope, Event: "order.created"})
		require.NoError(t, err)
		require.Len(t, page.Items, 4)
		require.Empty(t, got)
	})
}

// TestTypesRefused refuses names that are no types.
func TestTypesRefused(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	d, err := webhook.New(t.Context(), db, &webhook.Options{Secrets: []string{sealing}, Allow: []string{"127.0.0.1"}})
	require.NoError(t, err)
	const why = "must be lower-case words with dots between them, like order.created"
	for _, bad := range []string{"", ".", "a..b", "Order", "a,b", "order.", ".order", "a b", strings.Repeat("x", 65), "order.*"} {
		err := d.Publish(t.Context(), webhook.Event{Account: account, Scope: scope, Type: bad, Body: []byte(`{}`)})
		require.ErrorContains(t, err, "webhook: Event.Type "+why, bad)
	}
	for _, bad := range []string{"", "**", "*.order", "order*", "order.*.eu", ".*", "A.*", "a,b"} {
		_, _, err := d.For(account).Put(t.Context(), webhook.Settings{Scope: scope, URL: "http://127.0.0.1/", Events: []string{"ok", bad}})
		var invalid *webhook.Invalid
		require.ErrorAs(t, err, &invalid, bad)
		require.Equal(t, "events[1]", invalid.Field)
		require.Equal(t, why, invalid.Message)
	}
	_, _, err = d.For(account).Put(t.Context(), webhook.Settings{Scope: scope, URL: "http://127.0.0.1/", Events: make([]string, 101)})
	require.ErrorContains(t, err, "at most 100 events")
	for _, opts := range []webhook.Options{
		{Types: []webhook.Type{{Name: "Order"}}}, {Types: []webhook.Type{{Name: "order", Aliases: []string{"a,b"}}}}, {HeaderPrefix: "X Y"}, {UserAgent: "a\nb"},
	} {
		opts.Secrets = []string{sealing}
		_, err := webhook.New(t.Context(), db, &opts)
		require.ErrorContains(t, err, "malformed")
	}
}
