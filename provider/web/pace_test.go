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

// try sends a text and returns what the line says to it.
func (f *fixture) try(t testing.TB, to *webtest.Phone) error {
	t.Helper()
	_, err := f.session.Send(soon(t), provider.Outbound{
		ID: f.p.NewMessageID(), To: f.number(t, to), Content: provider.Text{Text: "hello"},
	})
	return err
}

// waits is how long a line asks to wait.
func waits(t testing.TB, err error) (time.Duration, string) {
	t.Helper()
	var slower *provider.RateLimited
	require.ErrorAs(t, err, &slower)
	require.NotEmpty(t, slower.Message)
	return slower.After, slower.Code
}

// TestPace keeps a line from writing like a machine: some at once, then at a
// pace, and to strangers at a slower one.
func TestPace(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f := pacedLine(t, db, web.Pace{Messages: 60, Burst: 4, Strangers: 60, StrangersBurst: 2})
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

// TestReachOutRefused has the network refuse a message to somebody new: it
// holds for all who are new, for a while, and for nobody else.
func TestReachOutRefused(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		f, ana, ben, eve := paired(t, db), fake.AddPhone(nil), fake.AddPhone(nil), fake.AddPhone(nil)
		f.says(t, ana, textMessage("I know you"))
		f.device.Fail(webtest.Fault{Code: webtest.CodeReachOut})
		after, code := waits(t, f.try(t, ben))
		require.Equal(t, time.Hour, after)
		require.Equal(t, string(provider.ReachoutLimited), code)
		_, code = waits(t, f.try(t, eve))
		require.NotEmpty(t, code)
		require.NoError(t, f.try(t, ana))
		f.clock.add(time.Hour)
		require.NoError(t, f.try(t, eve))
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
		require.NoError(t, f.try(t, ana))
		f.device.NotifyReachOut(time.Time{})
		await(t, f.inbox, func(h *provider.Health) bool { return h.Level == provider.HealthGood })
		require.NoError(t, f.try(t, eve))
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
