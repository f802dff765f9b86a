package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85/webhook"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

const paymentsSecret = "whsec_of_payments"

// loopback lets webhooks go to receivers of the test's.
func loopback(c *server.Config) { c.WebhookAllow = []string{"127.0.0.1"} }

// pay sends a notification as Stripe does.
func (f fixture) pay(t *testing.T, body string, header ...string) answer {
	t.Helper()
	p := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: []byte(body), Secret: paymentsSecret})
	return f.do(t, "POST", "/payments", body, append([]string{"Stripe-Signature", p.Header}, header...)...)
}

// subscribed is a notification of a subscription.
func subscribed(id string, at int64, account, status string) string {
	return fmt.Sprintf(`{"id":%q,"object":"event","created":%d,"type":"customer.subscription.updated","data":{"object":{"id":"sub_1",
		"object":"subscription","customer":"cus_1","status":%q,"metadata":{"account":%q},"items":{"data":[{"current_period_end":1774958400,
		"price":{"id":"price_1","lookup_key":"pro"}}]}}}}`, id, at, status, account)
}

// TestPayments follows a notification to the account's webhooks and to what
// the account shows.
func TestPayments(t *testing.T) {
	t.Parallel()
	onDatabases(t, loopback, func(t *testing.T, f fixture) {
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		in := startIntegrator(t)
		in.listen(t, ana, ana.sandbox(t), "/ana", "")
		in.listen(t, ben, ben.sandbox(t), "/ben", "")
		before := ana.call(t, "GET", "/account", "").json(200)
		require.Nil(t, before["plan"])
		require.Nil(t, before["status"])
		require.Nil(t, before["currentPeriodEnd"])

		require.Equal(t, 200, f.pay(t, subscribed("evt_1", 100, before["id"].(string), "active")).Code)
		require.Equal(t, 200, f.pay(t, subscribed("evt_1", 100, before["id"].(string), "active")).Code)
		require.Equal(t, 200, f.pay(t, subscribed("evt_0", 99, before["id"].(string), "trialing")).Code)
		require.Equal(t, 200, f.pay(t, subscribed("evt_2", 200, before["id"].(string), "past_due")).Code)
		require.Equal(t, 200, f.pay(t, subscribed("evt_3", 200, "nobody", "active")).Code, "the customer is known")
		require.Equal(t, 200, f.pay(t, strings.ReplaceAll(subscribed("evt_4", 200, "nobody", "active"), "cus_1", "cus_2")).Code)

		s := schemas(t, f)
		var published []string
		for _, d := range in.wait(t, 3) {
			require.NoError(t, s.fitsEvent(t, d.body, "subscription"), string(d.body))
			p := d.json(t)
			require.Equal(t, before["id"], p["account"])
			published = append(published, fmt.Sprintf("%s %v %v %.0f", d.path, p["plan"], p["status"], p["currentPeriodEnd"]))
		}
		require.Equal(t, []string{"/ana pro active 1774958400", "/ana pro past_due 1774958400", "/ana pro active 1774958400"}, published)
		after := ana.call(t, "GET", "/account", "").json(200)
		require.Equal(t, []any{"pro", "active", 1774958400.0}, []any{after["plan"], after["status"], after["currentPeriodEnd"]})
		require.Nil(t, ben.call(t, "GET", "/account", "").json(200)["plan"])
		plan := func(status string) string { return "account.plan map[plan:pro status:" + status + "]" }
		require.Equal(t, []string{plan("active"), plan("past_due"), plan("active")}, ana.newest(t, "kind=system"), "one for each change")
		require.Equal(t, before["id"], ana.audited(t, "kind=system")[0]["object"].(map[string]any)["id"])
		require.NotNil(t, ana.audited(t, "kind=system")[0]["requestId"])
		require.Empty(t, ben.audited(t, "kind=system"))
		require.Contains(t, metrics(t, f), `trunkline_payments_total{outcome="applied"} 3`)
		require.Contains(t, metrics(t, f), `trunkline_payments_total{outcome="dead"} 1`)
		require.Contains(t, metrics(t, f), `trunkline_payments_total{outcome="repeated"} 1`)
		require.Contains(t, metrics(t, f), `trunkline_payments_total{outcome="stale"} 1`)
	})
}

// TestPaymentsRefused answers what is no notification of Stripe's.
func TestPaymentsRefused(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	account := ana.call(t, "GET", "/account", "").json(200)["id"].(string)
	body := subscribed("evt_1", 100, account, "active")
	f.do(t, "POST", "/payments", body).problem(401, "unauthorized")
	large := strings.Repeat(" ", 1<<20) + "x"
	for _, signature := range []string{"", "t=1,v1=00", fmt.Sprintf("t=%d,v0=%064d", time.Now().Unix(), 0), fmt.Sprintf("t=1,v1=%064d", 0)} {
		f.do(t, "POST", "/payments", large, "Stripe-Signature", signature).problem(401, "unauthorized") // and not 413: it is not read
	}
	f.do(t, "POST", "/payments", body, "Stripe-Signature", "t=1,v1=00").problem(401, "unauthorized")
	ana.call(t, "POST", "/payments", body).problem(401, "unauthorized")
	p := f.pay(t, large).problem(413, "payload_too_large")
	require.Contains(t, p.Detail, "1 MiB")
	bad := f.pay(t, "{").problem(400, "validation")
	require.NotContains(t, bad.Detail, "{")
	require.Nil(t, ana.call(t, "GET", "/account", "").json(200)["status"])

	none := setup(t, func(c *server.Config) { c.PaymentsSecret = "" })
	p = none.pay(t, body).problem(503, "unavailable")
	require.Contains(t, p.Detail, "--payments-secret")

	cookie := "trunkline=" + strings.Repeat("x", 43) // of nobody: it is not looked at, nor is where it comes from
	require.Equal(t, 200, f.pay(t, body, "Cookie", cookie, "Origin", "https://stripe.example", "Sec-Fetch-Site", "cross-site").Code)
	require.Equal(t, "active", ana.call(t, "GET", "/account", "").json(200)["status"])
}

// TestPaymentsOnNodes gives each notification to two nodes at once: each
// change is told once.
func TestPaymentsOnNodes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		one, two := working(t, setupOn(t, db, loopback)), working(t, setupOn(t, db, loopback))
		ana := one.as(t, "ana")
		in := startIntegrator(t)
		in.listen(t, ana, ana.sandbox(t), "/", "")
		account := ana.call(t, "GET", "/account", "").json(200)["id"].(string)
		for i, status := range []string{"active", "past_due", "active", "canceled"} {
			var g errgroup.Group
			for _, node := range []fixture{one, two} {
				g.Go(func() error {
					if a := node.pay(t, subscribed(fmt.Sprint("evt_", i), int64(100+i), account, status)); a.Code != 200 {
						return fmt.Errorf("%d: %s", a.Code, a.Body.String())
					}
					return nil
				})
			}
			require.NoError(t, g.Wait())
		}
		published := []any{}
		for _, d := range in.wait(t, 4) {
			published = append(published, d.json(t)["status"])
		}
		require.Equal(t, []any{"active", "past_due", "active", "canceled"}, published)
	})
}

// TestMonth counts what an account uses from the beginning of the month.
func TestMonth(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		clock := midMonth()
		f := working(t, setupOn(t, db, func(c *server.Config) {
			keeping(t)(c)
			c.Now = clock
		}))
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		ref := ana.sandbox(t)
		ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q}`, ref, echoURL)).json(201)
		ana.write(t, ref, "ana", "Hello")
		ana.write(t, ref, "ana", "Are you there?")
		ana.send(t, ref, "Yes")
		file := string(picture(t, 40, 30))
		ana.upload(t, part{"file", "a.png", "image/png", file}, part{field: "reference", body: fmt.Sprint(ref)}).json(201)
		ana.call(t, "POST", "/user", `{"email":"carl@example.org","password":"correct horse","name":"Carl","permissions":[]}`).json(201)

		now := clock()
		month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC).Unix()
		usage := func(c client) map[string]any {
			return c.call(t, "GET", "/account", "").json(200)["usage"].(map[string]any)
		}
		var got map[string]any
		ana.until(t, func() bool { got = usage(ana); return got["deliveries"].(float64) >= 3 })
		delete(got, "deliveries") // statuses are delivered, too
		require.Equal(t, map[string]any{
			"since": float64(month), "references": 1.0, "users": 2.0, "messagesIn": 2.0, "messagesOut": 1.0, "mediaBytes": float64(len(file)),
		}, got)
		require.Equal(t, map[string]any{
			"since": float64(month), "references": 0.0, "users": 1.0, "messagesIn": 0.0, "messagesOut": 0.0, "deliveries": 0.0, "mediaBytes": 0.0,
		}, usage(ben))
	})
}
