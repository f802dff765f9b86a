package messaging_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// healthNews is what the network says of the kind "account", minutes after the epoch.
func healthNews(level provider.HealthLevel, code provider.HealthCode, minute int, change ...func(*provider.Health)) *provider.Health {
	h := &provider.Health{
		Raw: provider.Raw{ID: fmt.Sprint(level, code, minute), Kind: "account", Body: []byte(`{}`)}, Level: level, Code: code,
		At: epoch.Add(time.Duration(minute) * time.Minute), State: "DISABLED_UPDATE", Detail: "SCAM",
	}
	for _, fn := range change {
		fn(h)
	}
	return h
}

// TestHealthIsTheSession: a ban ends a session and is its error until the
// network takes it back; a warning is its error alone. Each change of the
// state is one event.
func TestHealthIsTheSession(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		other := func(h *provider.Health) { h.Kind, h.State, h.Detail = "quality", "FLAGGED", "" }
		steps := []struct {
			news  *provider.Health
			state messaging.State
			code  string
		}{
			{healthNews(provider.HealthNews, "", 1), messaging.StateConnected, ""},
			{healthNews(provider.HealthWarning, provider.HealthLimited, 2, other), messaging.StateConnected, "reachout_limited"},
			{healthNews(provider.HealthStopped, provider.HealthBanned, 10), messaging.StateFailed, "banned"},
			{healthNews(provider.HealthGood, "", 5), messaging.StateFailed, "banned"}, // late
			{healthNews(provider.HealthWarning, "", 12), messaging.StateFailed, "banned"},
			{healthNews(provider.HealthGood, "", 20), messaging.StateConnected, "reachout_limited"},
			{healthNews(provider.HealthStopped, provider.HealthBanned, 15), messaging.StateConnected, "reachout_limited"}, // late
			{healthNews(provider.HealthGood, "", 30, other), messaging.StateConnected, ""},
			{healthNews(provider.HealthWarning, "", 31), messaging.StateConnected, "unknown"},
		}
		for i, step := range steps {
			f.receive(t, ref, step.news, step.news)
			s, err := f.acc.Sessions().Status(t.Context(), ref)
			require.NoError(t, err)
			require.Equal(t, step.state, s.State, i)
			if step.code == "" {
				require.Nil(t, s.LastError, i)
				continue
			}
			require.Equal(t, step.code, s.LastError.Code, i)
			if step.code == "banned" {
				require.Equal(t, "DISABLED_UPDATE: SCAM", s.LastError.Message)
				require.Equal(t, epoch.Add(10*time.Minute), s.LastError.At.Time)
				_, err := f.acc.Send(t.Context(), say(ref, "no"))
				var refused *messaging.Error
				require.ErrorAs(t, err, &refused)
				require.Equal(t, messaging.CodeSessionNotConnected, refused.Code)
			}
		}
		var states []string
		for _, e := range f.sink.all(t) {
			require.Equal(t, messaging.EventSession, e.Type)
			states = append(states, member(t, e.Payload, "state"))
		}
		require.Equal(t, []string{`"FAILED"`, `"CONNECTED"`}, states)
		require.Len(t, f.news(t, "session"), 2)
	})
}

// TestHealthOfAnotherNumber: what is said of one number of an account is not
// about the others; and who has logged out stays so.
func TestHealthOfAnotherNumber(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.net.check = func(provider.Reference) (provider.Account, error) {
			return provider.Account{ID: "1", Name: "+1 555 078 3881"}, nil
		}
		start := func() messaging.Session {
			s, err := f.acc.Sessions().Start(t.Context(), ref)
			require.NoError(t, err)
			return s
		}
		start()
		of := func(number string) func(*provider.Health) {
			return func(h *provider.Health) { h.Phone = number }
		}
		state := func() messaging.State {
			s, err := f.acc.Sessions().Status(t.Context(), ref)
			require.NoError(t, err)
			return s.State
		}
		f.receive(t, ref, healthNews(provider.HealthStopped, provider.HealthBanned, 1, of("15550001111")))
		require.Equal(t, messaging.StateConnected, state())
		f.receive(t, ref, healthNews(provider.HealthStopped, provider.HealthBanned, 2, of("15550783881")))
		require.Equal(t, messaging.StateFailed, state())

		require.Equal(t, messaging.StateConnected, start().State, "the network was asked and complains of nothing")
		f.receive(t, ref, healthNews(provider.HealthGood, "", 3))
		require.Equal(t, messaging.StateConnected, state())
		_, err := f.acc.Sessions().Logout(t.Context(), ref)
		require.NoError(t, err)
		f.receive(t, ref, healthNews(provider.HealthStopped, provider.HealthBanned, 4), healthNews(provider.HealthGood, "", 5))
		require.Equal(t, messaging.StateLoggedOut, state())
	})
}

// TestCheckTellsHealth: a start that finds something wrong says so.
func TestCheckTellsHealth(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		level := provider.HealthStopped
		f.net.check = func(provider.Reference) (provider.Account, error) {
			h := *healthNews(level, provider.HealthBanned, 0)
			h.At = time.Time{}
			return provider.Account{ID: "1", Health: []provider.Health{h, h}}, nil
		}
		for _, want := range []messaging.State{messaging.StateFailed, messaging.StateConnected} {
			s, err := f.acc.Sessions().Start(t.Context(), ref)
			require.NoError(t, err)
			require.Equal(t, want, s.State)
			require.Equal(t, "banned", s.LastError.Code)
			level = provider.HealthWarning
		}
		f.clock.Advance(time.Hour)
		f.receive(t, ref, healthNews(provider.HealthGood, "", 60))
		s, err := f.acc.Sessions().Status(t.Context(), ref)
		require.NoError(t, err)
		require.Nil(t, s.LastError)
	})
}

// TestHealthReports shows the latest news of each kind with the session, plain
// ones too.
func TestHealthReports(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, healthNews(provider.HealthWarning, provider.HealthLimited, 1))
		f.receive(t, ref, healthNews(provider.HealthNews, "", 2, func(h *provider.Health) {
			h.Kind, h.State, h.Detail, h.Limit = "phone_number", "YELLOW", "", "TIER_10K"
		}))
		f.receive(t, ref, healthNews(provider.HealthGood, "", 3, func(h *provider.Health) { h.State = "REINSTATE"; h.Detail = "" }))
		s, err := f.acc.Sessions().Status(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, []messaging.HealthReport{
			{Kind: "account", Level: "good", Message: "REINSTATE", At: messaging.UnixTime{Time: epoch.Add(3 * time.Minute)}},
			{Kind: "phone_number", Level: "news", Message: "YELLOW: limit TIER_10K", At: messaging.UnixTime{Time: epoch.Add(2 * time.Minute)}},
		}, s.Health.Reports)
		require.Nil(t, s.LastError)
		reference, err := f.acc.References().Get(t.Context(), ref)
		require.NoError(t, err)
		require.Empty(t, reference.Session.Health.Reports)
	})
}
