package web_test

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// try sends a text and returns what the reference says to it.
func (f *fixture) try(t testing.TB, to *webtest.Phone) error {
	t.Helper()
	_, err := f.session.Send(soon(t), provider.Outbound{
		ID: f.p.NewMessageID(), To: f.number(t, to), Content: provider.Text{Text: "hello"},
	})
	return err
}

// waits is how long a reference asks to wait.
func waits(t testing.TB, err error) (time.Duration, string) {
	t.Helper()
	var slower *provider.RateLimited
	require.ErrorAs(t, err, &slower)
	require.NotEmpty(t, slower.Message)
	return slower.After, slower.Code
}

// TestRate keeps a reference from writing like a machine: some at once, then at a
// pace, and to strangers at a slower one.
func TestRate(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := limitedReference(t, db, web.Rates{Messages: 60, Burst: 4, Outreach: 60, OutreachBurst: 2})
		ana, ben, eve := fake.AddPhone(nil), fake.AddPhone(nil), fake.AddPhone(nil)
		require.NoError(t, f.try(t, ana))
		require.NoError(t, f.try(t, ben))
		after, code := waits(t, f.try(t, eve))
		require.Equal(t, time.Minute, after, "an hour has sixty turns for strangers")
		require.Equal(t, "pace", code)
		require.NoError(t, f.try(t, ana), "she is known by now")
		require.NoError(t, f.try(t, ana))
		after, _ = waits(t, f.try(t, ana))
		require.Equal(t, time.Second, after, "a minute has sixty turns")
		f.clock.add(time.Second)
		require.NoError(t, f.try(t, ana))
		f.clock.add(time.Minute)
		require.NoError(t, f.try(t, eve), "who was refused has not used up a turn")
	})
}

// TestRateIsKept opens the reference again, as another process would: it continues
// where it was, and says when it can.
func TestRateIsKept(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := limitedReference(t, db, web.Rates{Messages: 60, Burst: 4, Outreach: 60, OutreachBurst: 2})
		ana, ben, eve := fake.AddPhone(nil), fake.AddPhone(nil), fake.AddPhone(nil)
		next := func(to *webtest.Phone, others int) time.Duration {
			return f.session.(provider.RateLimiter).Next(f.number(t, to), others)
		}
		require.LessOrEqual(t, next(ana, 0), time.Duration(0))
		require.Equal(t, time.Second, next(ana, 4), "behind a burst")
		require.NoError(t, f.try(t, ana))
		require.NoError(t, f.try(t, ben))
		require.Equal(t, time.Minute, next(eve, 0))

		f.reopen(t)
		require.LessOrEqual(t, next(ana, 0), time.Duration(0), "she is known")
		require.InDelta(t, time.Minute, next(eve, 0), float64(time.Millisecond))
		after, code := waits(t, f.try(t, eve))
		require.InDelta(t, time.Minute, after, float64(time.Millisecond))
		require.Equal(t, "pace", code)

		f.reopen(t)
		f.session.(provider.RateLimiter).Left([]provider.SentRecord{
			{To: f.number(t, ana), Ago: time.Minute}, {To: f.number(t, ana)}, {To: f.number(t, ben)},
		})
		require.Equal(t, time.Second, next(ana, 2), "two of four have left")
		f.clock.add(time.Minute)
		require.NoError(t, f.try(t, eve))
	})
}

// TestRateAfterBurst opens a reference that has sent as fast as it may: what it
// remembers is no new burst.
func TestRateAfterBurst(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := limitedReference(t, db, web.Rates{Messages: 60, Burst: 20}), fake.AddPhone(nil)
		to := f.number(t, ana)
		var sent []provider.SentRecord
		for ago := 299; ago >= 0; ago-- {
			sent = append(sent, provider.SentRecord{To: to, Ago: time.Duration(ago) * time.Second})
		}
		f.session.(provider.RateLimiter).Left(sent)
		require.InDelta(t, time.Second, f.session.(provider.RateLimiter).Next(to, 0), float64(time.Second))
		require.Equal(t, 10*time.Second, f.session.(provider.RateLimiter).Next(to, 10)-f.session.(provider.RateLimiter).Next(to, 0))
		f.session.(provider.RateLimiter).Left(nil)
		require.LessOrEqual(t, f.session.(provider.RateLimiter).Next(to, 19), time.Duration(0), "it was at rest")
	})
}

// reopen closes the reference and opens it with a provider that knows nothing of it.
func (f *fixture) reopen(t testing.TB) {
	t.Helper()
	f.close(t)
	require.NoError(t, f.device.AwaitGone(soon(t)))
	var err error
	f.p, err = web.New(soon(t), f.db, &f.opts)
	require.NoError(t, err)
	f.inbox.clear()
	f.open(t)
	f.inbox.state(t, provider.Connected)
}

// TestReachOutRefused has the network refuse a message to somebody new: it
// holds for all who are new, for a while, and for nobody else.
func TestReachOutRefused(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana, ben, eve := paired(t, db), fake.AddPhone(nil), fake.AddPhone(nil), fake.AddPhone(nil)
		f.says(t, ana, textMessage("I know you"))
		f.device.Fail(webtest.Fault{Code: webtest.CodeReachOut})
		after, code := waits(t, f.try(t, ben))
		require.Equal(t, time.Hour, after)
		health := func(level provider.HealthLevel) *provider.Health {
			return await(t, f.inbox, func(h *provider.Health) bool { return h.Level == level })
		}
		require.Equal(t, provider.HealthLimited, health(provider.HealthWarning).Code)
		require.Equal(t, string(provider.ReachoutLimited), code)
		f.reopen(t)
		after, code = waits(t, f.try(t, eve))
		require.InDelta(t, time.Hour, after, float64(time.Millisecond))
		require.Equal(t, string(provider.ReachoutLimited), code)
		require.NoError(t, f.try(t, ana))
		f.clock.add(time.Hour)
		require.NoError(t, f.try(t, eve))
		require.Equal(t, "reachout", health(provider.HealthGood).Kind, "the session is told that it is over")
	})
}

// TestReachOutNotified has the network tell until when, and that it is over.
func TestReachOutNotified(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana, eve := paired(t, db), fake.AddPhone(nil), fake.AddPhone(nil)
		f.says(t, ana, textMessage("I know you"))
		f.device.NotifyReachOut(f.clock.now().Add(3 * time.Hour))
		h := await(t, f.inbox, func(*provider.Health) bool { return true })
		require.Equal(t, provider.HealthWarning, h.Level)
		require.Equal(t, provider.HealthLimited, h.Code)
		after, code := waits(t, f.try(t, eve))
		require.InDelta(t, 3*time.Hour, after, float64(time.Second))
		require.Equal(t, string(provider.ReachoutLimited), code)
		f.reopen(t)
		after, code = waits(t, f.try(t, eve))
		require.InDelta(t, 3*time.Hour, after, float64(time.Second))
		require.Equal(t, string(provider.ReachoutLimited), code)
		require.InDelta(t, 3*time.Hour, f.session.(provider.RateLimiter).Next(f.number(t, eve), 0), float64(time.Second))
		require.NoError(t, f.try(t, ana))
		f.device.NotifyReachOut(time.Time{})
		await(t, f.inbox, func(h *provider.Health) bool { return h.Level == provider.HealthGood })
		require.NoError(t, f.try(t, eve))
		f.reopen(t)
		require.NoError(t, f.try(t, fake.AddPhone(nil)), "that it is over is remembered too")
	})
}

// TestRefusals are what the network says to a message.
func TestRefusals(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana := paired(t, db), fake.AddPhone(nil)
		f.says(t, ana, textMessage("I know you"))
		f.device.Fail(webtest.Fault{Code: 429})
		after, _ := waits(t, f.try(t, ana))
		require.Positive(t, after)
		f.device.Fail(webtest.Fault{Code: 500})
		var later *provider.Temporary
		require.ErrorAs(t, f.try(t, ana), &later)
		f.device.Fail(webtest.Fault{Code: 479})
		var refused *provider.Rejected
		require.ErrorAs(t, f.try(t, ana), &refused)
		require.Equal(t, "479", refused.Code)
		nobody, err := f.p.Address("+4999999999999")
		require.NoError(t, err)
		_, err = f.session.Send(soon(t), provider.Outbound{ID: f.p.NewMessageID(), To: nobody, Content: provider.Text{Text: "x"}})
		var unknown *provider.BadRecipient
		require.ErrorAs(t, err, &unknown)
		require.NotContains(t, err.Error(), "4999999999999")
	})
}
