package billing_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85/webhook"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/billing"
)

const secret = "whsec_of_tests"

// fixture is a service over an empty database, and what it tells.
type fixture struct {
	*billing.Service
	db  *sqlx.DB
	now time.Time
	log bytes.Buffer

	mu       sync.Mutex
	notified []billing.Subscription
	counts   map[billing.Outcome]int
	failed   error // error of Changed
}

// accounts are those that exist.
var accounts = map[string]bool{"ana": true, "ben": true}

func setup(t *testing.T, db *sqlx.DB) *fixture {
	t.Helper()
	require.NoError(t, billing.Migrate(t.Context(), db))
	f := &fixture{db: db, now: time.Now(), counts: map[billing.Outcome]int{}}
	f.Service = f.node(t)
	return f
}

// node returns another service over the same database.
func (f *fixture) node(t *testing.T) *billing.Service {
	t.Helper()
	s, err := billing.New(t.Context(), f.db, &billing.Options{
		Secret: secret, Logger: slog.New(slog.NewTextHandler(&f.log, nil)), Now: func() time.Time { return f.now },
		Known: func(_ context.Context, _ billing.Tx, account string) (bool, error) { return accounts[account], nil },
		Changed: func(_ context.Context, _ billing.Tx, sub billing.Subscription) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.notified = append(f.notified, sub)
			return f.failed
		},
		Received: func(o billing.Outcome) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.counts[o]++
		},
	})
	require.NoError(t, err)
	return s
}

// notify signs a notification and gives it to a service.
func notify(t *testing.T, s *billing.Service, body string) (billing.Outcome, error) {
	t.Helper()
	p := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: []byte(body), Secret: secret})
	return s.Receive(t.Context(), p.Payload, p.Header)
}

func (f *fixture) is(t *testing.T, want billing.Outcome, body string) {
	t.Helper()
	got, err := notify(t, f.Service, body)
	require.NoError(t, err)
	require.Equal(t, want, got, body)
}

func (f *fixture) stands(t *testing.T, account, plan, status string, end int64) {
	t.Helper()
	sub, err := f.Subscription(t.Context(), account)
	require.NoError(t, err)
	want := billing.Subscription{Account: account, Plan: plan, Status: status}
	if end != 0 {
		want.CurrentPeriodEnd = time.Unix(end, 0).UTC()
	}
	require.Equal(t, want, sub)
}

func (f *fixture) rows(t *testing.T, table string) int {
	t.Helper()
	var n int
	require.NoError(t, f.db.GetContext(t.Context(), &n, `SELECT count(*) FROM `+table))
	return n
}

// event returns a notification of Stripe's.
func event(id, kind string, at int64, object string) string {
	return fmt.Sprintf(`{"id":%q,"object":"event","api_version":"2025-09-30.clover","created":%d,"type":%q,"livemode":false,
		"pending_webhooks":1,"request":{"id":null,"idempotency_key":null},"data":{"object":%s}}`, id, at, kind, object)
}

// subscription is Stripe's object, of customer cus_1, in the form of its present API.
func subscription(id, account, status, plan string, end int64) string {
	metadata := `{}`
	if account != "" {
		metadata = fmt.Sprintf(`{"account":%q}`, account)
	}
	return fmt.Sprintf(`{"id":%q,"object":"subscription","customer":"cus_1","status":%q,"metadata":%s,"items":{"object":"list","data":[
		{"id":"si_1","current_period_end":%d,"price":{"id":"price_1","lookup_key":%q,"nickname":null,"product":"prod_1"},"quantity":1}]}}`,
		id, status, metadata, end, plan)
}

// invoice is Stripe's object in the form of its present API.
func invoice(sub, customer string, end int64) string {
	return fmt.Sprintf(`{"id":"in_1","object":"invoice","customer":%q,"status":"paid","metadata":{},"parent":{"type":"subscription_details",
		"subscription_details":{"subscription":%q,"metadata":{}}},"lines":{"object":"list","data":[{"id":"il_1","period":{"start":1,"end":%d}}]}}`,
		customer, sub, end)
}

func each(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, setup(t, db))
	})
}

// TestSubscriptionFromTrialToEnd follows a subscription from its beginning to its end.
func TestSubscriptionFromTrialToEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.stands(t, "ana", "", "", 0)
		f.is(t, billing.Applied, event("evt_1", "customer.subscription.created", 100, subscription("sub_1", "ana", "incomplete", "pro", 900)))
		f.stands(t, "ana", "pro", "incomplete", 900)
		f.is(t, billing.Applied, event("evt_2", "invoice.paid", 101, invoice("sub_1", "cus_1", 900)))
		f.stands(t, "ana", "pro", "active", 900)
		f.is(t, billing.Unchanged, event("evt_3", "invoice.finalized", 102, invoice("sub_1", "cus_1", 900)))
		f.is(t, billing.Unchanged, event("evt_4", "customer.subscription.updated", 102, subscription("sub_1", "", "active", "pro", 900)))
		f.is(t, billing.Applied, event("evt_5", "invoice.payment_failed", 200, invoice("sub_1", "cus_1", 1800)))
		f.stands(t, "ana", "pro", "past_due", 900)
		f.is(t, billing.Applied, event("evt_6", "invoice.paid", 201, invoice("sub_1", "cus_1", 1800)))
		f.stands(t, "ana", "pro", "active", 1800)
		f.is(t, billing.Applied, event("evt_7", "customer.subscription.updated", 300, subscription("sub_1", "ana", "active", "team", 1800)))
		f.is(t, billing.Applied, event("evt_8", "customer.subscription.deleted", 400, subscription("sub_1", "ana", "canceled", "team", 1800)))
		f.is(t, billing.Unchanged, event("evt_9", "invoice.paid", 401, invoice("sub_1", "cus_1", 2700)))
		f.stands(t, "ana", "team", "canceled", 1800)
		f.stands(t, "ben", "", "", 0)
		statuses := []string{}
		for _, sub := range f.notified {
			require.Equal(t, "ana", sub.Account)
			statuses = append(statuses, sub.Plan+" "+sub.Status)
		}
		require.Equal(t, []string{"pro incomplete", "pro active", "pro past_due", "pro active", "team active", "team canceled"}, statuses)
		require.Equal(t, map[billing.Outcome]int{billing.Applied: 6, billing.Unchanged: 3}, f.counts)
	})
}

// TestOrder applies the same notifications in every order, some twice: the result
// is always the same, and no old state is reported.
func TestOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		events := []string{
			event("evt_a", "customer.subscription.created", 100, subscription("sub_1", "ana", "incomplete", "pro", 900)),
			event("evt_b", "customer.subscription.updated", 100, subscription("sub_1", "ana", "active", "pro", 900)),
			event("evt_c", "customer.subscription.updated", 200, subscription("sub_1", "ana", "past_due", "pro", 1800)),
			event("evt_d", "customer.subscription.deleted", 200, subscription("sub_1", "ana", "canceled", "pro", 1800)),
		}
		rank := map[string]int{"incomplete": 0, "active": 1, "past_due": 2, "canceled": 3}
		for range testkit.Rounds(12) {
			for _, table := range []string{"subscription", "customer", "event"} {
				f.db.MustExec(`DELETE FROM billing_` + table)
			}
			f.notified = nil
			for _, i := range append(rand.Perm(4), rand.Perm(4)...) {
				_, err := notify(t, f.Service, events[i])
				require.NoError(t, err)
			}
			f.stands(t, "ana", "pro", "canceled", 1800)
			for i := 1; i < len(f.notified); i++ {
				require.Greater(t, rank[f.notified[i].Status], rank[f.notified[i-1].Status])
			}
			require.Equal(t, 4, f.rows(t, "billing_event"))
		}
		require.Positive(t, f.counts[billing.Stale])
		require.Positive(t, f.counts[billing.Repeated])
		f.is(t, billing.Stale, event("evt_e", "invoice.payment_failed", 150, invoice("sub_1", "cus_1", 900)))
	})
}

// TestWhose finds accounts by the metadata of a subscription and by its customer,
// and keeps notifications without an account.
func TestWhose(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.is(t, billing.Dead, event("evt_1", "invoice.paid", 100, invoice("sub_1", "cus_1", 900)))
		f.is(t, billing.Dead, event("evt_2", "customer.subscription.updated", 100, subscription("sub_1", "nobody", "active", "pro", 900)))
		f.is(t, billing.Dead, event("evt_3", "customer.subscription.updated", 100, `{"id":"sub_1","object":"subscription","metadata":null,"customer":null}`))
		f.is(t, billing.Repeated, event("evt_3", "customer.subscription.updated", 100, `{"id":"sub_1","object":"subscription","metadata":null,"customer":null}`))
		f.is(t, billing.Ignored, event("evt_4", "charge.succeeded", 100, `{"id":"ch_1"}`))
		require.Equal(t, 3, f.rows(t, "billing_dead"))
		require.Contains(t, f.log.String(), "evt_2")
		require.NotContains(t, f.log.String(), "cus_1")
		var body string
		require.NoError(t, f.db.GetContext(t.Context(), &body, `SELECT body FROM billing_dead WHERE id = 'evt_2'`))
		require.True(t, json.Valid([]byte(body)))

		f.is(t, billing.Applied, event("evt_5", "customer.subscription.created", 100, subscription("sub_1", "ana", "active", "pro", 900)))
		f.is(t, billing.Applied, event("evt_6", "invoice.payment_failed", 101, invoice("sub_1", "cus_1", 900)))
		f.is(t, billing.Applied, event("evt_7", "customer.subscription.updated", 102,
			`{"id":"sub_1","object":"subscription","customer":{"id":"cus_1","object":"customer"},"status":"active","current_period_end":1000,
			"metadata":{"plan":"gold\u0000"},"items":{"data":[{"plan":{"id":"plan_1","nickname":"Old"}}]}}`))
		f.stands(t, "ana", "gold", "active", 1000)

		// Another subscription of the account: its end is not the account's.
		f.is(t, billing.Applied, event("evt_8", "customer.subscription.created", 200, subscription("sub_2", "ana", "active", "team", 2000)))
		f.is(t, billing.Unchanged, event("evt_9", "customer.subscription.deleted", 300, subscription("sub_1", "ana", "canceled", "pro", 900)))
		f.is(t, billing.Unchanged, event("evt_10", "invoice.payment_failed", 301, invoice("sub_1", "cus_1", 900)))
		f.stands(t, "ana", "team", "active", 2000)

		// The customer is ben's from now on.
		f.is(t, billing.Applied, event("evt_11", "customer.subscription.created", 400, subscription("sub_3", "ben", "trialing", "pro", 3000)))
		f.is(t, billing.Applied, event("evt_12", "customer.subscription.updated", 401, subscription("sub_3", "", "active", "pro", 3000)))
		f.stands(t, "ben", "pro", "active", 3000)
		f.stands(t, "ana", "team", "active", 2000)

		require.NoError(t, f.Forget(t.Context(), "ben"))
		f.stands(t, "ben", "", "", 0)
		f.is(t, billing.Dead, event("evt_13", "customer.subscription.updated", 500, subscription("sub_3", "", "active", "pro", 3000)))
		f.stands(t, "ana", "team", "active", 2000)
	})
}

// TestRefused takes nothing that Stripe has not signed.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := setup(t, testkit.Open(t, testkit.SQLiteURL(t)))
	body := event("evt_1", "customer.subscription.created", 100, subscription("sub_1", "ana", "active", "pro", 900))
	sign := func(u webhook.UnsignedPayload) string {
		u.Payload = []byte(body)
		return webhook.GenerateTestSignedPayload(&u).Header
	}
	for name, signature := range map[string]string{
		"none": "", "garbage": "x", "no signature": "t=1", "other secret": sign(webhook.UnsignedPayload{Secret: "whsec_other"}), "empty secret": sign(webhook.UnsignedPayload{}),
		"old": sign(webhook.UnsignedPayload{Secret: secret, Timestamp: time.Now().Add(-6 * time.Minute)}), "old scheme": sign(webhook.UnsignedPayload{Secret: secret, Scheme: "v0"}),
	} {
		_, err := f.Receive(t.Context(), []byte(body), signature)
		require.ErrorIs(t, err, billing.ErrSignature, name)
		if !strings.Contains(name, "secret") { // which takes the body
			require.ErrorIs(t, f.Expects(signature), billing.ErrSignature, name)
		}
	}
	require.NoError(t, f.Expects(sign(webhook.UnsignedPayload{Secret: secret})))
	require.NoError(t, f.Expects("v1=00,"+sign(webhook.UnsignedPayload{Secret: secret})))
	_, err := f.Receive(t.Context(), []byte(body+" "), sign(webhook.UnsignedPayload{Secret: secret}))
	require.ErrorIs(t, err, billing.ErrSignature)
	for _, malformed := range []string{
		``, `null`, `[]`, `{}`, `{"object":"event"}`, `{"id":"evt_1","object":"v2.core.event","type":"invoice.paid"}`, event("evt_1", "invoice.paid", 0, `{}`),
		event("evt_1", "invoice.paid", 1, `[]`), event("evt_1", "invoice.paid", 1, `{"customer":7}`), body + body,
	} {
		_, err := notify(t, f.Service, malformed)
		require.ErrorIs(t, err, billing.ErrMalformed, malformed)
	}
	none, err := billing.New(t.Context(), f.db, nil)
	require.NoError(t, err)
	_, err = none.Receive(t.Context(), []byte(body), sign(webhook.UnsignedPayload{}))
	require.ErrorIs(t, err, billing.ErrNoSecret)
	require.ErrorIs(t, none.Expects(sign(webhook.UnsignedPayload{Secret: secret})), billing.ErrNoSecret)
	require.Zero(t, f.rows(t, "billing_event"))
	require.Empty(t, f.notified)
}

// TestTogether checks that a change is stored together with its report or not at
// all: the sender repeats it.
func TestTogether(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		body := event("evt_1", "customer.subscription.created", 100, subscription("sub_1", "ana", "active", "pro", 900))
		f.failed = fmt.Errorf("the lights went out")
		_, err := notify(t, f.Service, body)
		require.ErrorIs(t, err, f.failed)
		f.stands(t, "ana", "", "", 0)
		for _, table := range []string{"event", "customer", "subscription", "dead"} {
			require.Zero(t, f.rows(t, "billing_"+table), table)
		}
		f.failed = nil
		f.is(t, billing.Applied, body)
		f.stands(t, "ana", "pro", "active", 900)
	})
}

// TestNodes gives many notifications, each to every node at once.
func TestNodes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		nodes := []*billing.Service{f.Service, f.node(t), f.node(t)}
		const n = 20
		var g errgroup.Group
		for _, node := range nodes {
			for _, i := range rand.Perm(n) {
				g.Go(func() error {
					_, err := notify(t, node, event(fmt.Sprint("evt_", i), "customer.subscription.updated", int64(100+i),
						subscription("sub_1", "ana", "active", fmt.Sprint("plan", i), 900)))
					return err
				})
			}
		}
		require.NoError(t, g.Wait())
		f.stands(t, "ana", fmt.Sprint("plan", n-1), "active", 900)
		require.Equal(t, 2*n, f.counts[billing.Repeated])
		require.Equal(t, n, f.counts[billing.Applied]+f.counts[billing.Stale])
	})
}

// TestForgets runs long enough to forget what is past its time.
func TestForgets(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.is(t, billing.Applied, event("evt_1", "customer.subscription.created", 100, subscription("sub_1", "ana", "active", "pro", 900)))
		f.is(t, billing.Dead, event("evt_2", "invoice.paid", 100, invoice("sub_2", "cus_2", 900)))
		run := func(events, dead int) {
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			s := f.node(t)
			go func() { done <- s.Run(ctx) }()
			testkit.UntilCommitted(t, f.db, func() bool { return f.rows(t, "billing_event") == events && f.rows(t, "billing_dead") == dead })
			stop()
			require.NoError(t, <-done)
		}
		f.now = f.now.Add(29 * 24 * time.Hour)
		run(2, 1)
		f.now = f.now.Add(2 * 24 * time.Hour)
		run(0, 1)
		f.now = f.now.Add(60 * 24 * time.Hour)
		run(0, 0)
		f.stands(t, "ana", "pro", "active", 900)
	})
}
