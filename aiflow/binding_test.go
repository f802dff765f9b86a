package aiflow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// scheduled are the references on which a flow begins by itself, 0 for none, with
// the time of the day.
func (f *fixture) scheduled(t *testing.T, id string) map[int64]string {
	t.Helper()
	var rows []struct {
		Reference int64
		NextUS    int64 `db:"next_us"`
	}
	require.NoError(t, f.db.SelectContext(t.Context(), &rows, `SELECT reference, next_us FROM flow_schedule WHERE owner = $1`, id))
	out := map[int64]string{}
	for _, r := range rows {
		out[r.Reference] = time.UnixMicro(r.NextUS).UTC().Format("15:04")
	}
	return out
}

func daily(at string) string {
	return `{"format":"trunkline-flow/1","kind":"flow","slug":"daily","name":"Daily","start":"t","nodes":{
		"t":{"type":"trigger","config":{"on":[{"kind":"schedule","cron":"` + at + ` * * *"}]},"next":{"out":"e"}},"e":{"type":"end"}}}`
}

// TestSchedule has runs begin by themselves on the references on which a flow
// listens, as it is published at the time.
func TestSchedule(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		project := f.project(t, "Reports")
		made := f.flow(t, project, daily("0 9"))
		require.Empty(t, f.scheduled(t, made.ID), "it is not published")
		f.publish(t, made.ID)
		require.Equal(t, map[int64]string{0: "09:00"}, f.scheduled(t, made.ID))
		_, err := f.Flows().Update(t.Context(), made.ID, aiflow.FlowChange{Draft: []byte(daily("30 10"))})
		require.NoError(t, err)
		require.Equal(t, map[int64]string{0: "09:00"}, f.scheduled(t, made.ID))
		f.publish(t, made.ID)
		require.Equal(t, map[int64]string{0: "10:30"}, f.scheduled(t, made.ID))
		_, err = f.Versions().Rollback(t.Context(), made.ID, 1, aiflow.Publisher{})
		require.NoError(t, err)
		require.Equal(t, map[int64]string{0: "09:00"}, f.scheduled(t, made.ID))

		bind := func(reference int64, enabled bool) {
			_, err := f.Bindings().Set(t.Context(), made.ID, aiflow.Binding{Reference: reference, Enabled: enabled})
			require.NoError(t, err)
		}
		bind(7, true)
		bind(8, true)
		require.Equal(t, map[int64]string{7: "09:00", 8: "09:00"}, f.scheduled(t, made.ID))
		bind(8, false)
		require.Equal(t, map[int64]string{7: "09:00"}, f.scheduled(t, made.ID))
		require.NoError(t, f.DeleteReference(t.Context(), 7))
		require.Empty(t, f.scheduled(t, made.ID))

		other := f.published(t, project, plain("plain"))
		require.Empty(t, f.scheduled(t, other.ID))
		bind(7, true)
		require.NoError(t, f.Flows().Delete(t.Context(), made.ID))
		require.Empty(t, f.scheduled(t, made.ID))
		last := f.published(t, project, daily("5 5"))
		require.NotEmpty(t, f.scheduled(t, last.ID))
		require.NoError(t, f.Projects().Delete(t.Context(), project))
		require.Empty(t, f.scheduled(t, last.ID))
	})
}

// TestScheduleOfDeleted begins nothing of a flow that went without a word.
func TestScheduleOfDeleted(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		made := f.published(t, f.project(t, "Reports"), daily("0 9"))
		_, err := f.db.ExecContext(t.Context(), `UPDATE flow_schedule SET next_us = $1`, time.Now().Add(-time.Minute).UnixMicro())
		require.NoError(t, err)
		_, err = f.db.ExecContext(t.Context(), `DELETE FROM aiflow_project`)
		require.NoError(t, err)
		f.running(t)
		testkit.UntilCommitted(t, f.db, func() bool { return len(f.scheduled(t, made.ID)) == 0 })
	})
}

// TestRetryAndWatch follows a run that fails, and is retried.
func TestRetryAndWatch(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.running(t)
		made := f.published(t, f.project(t, "Shop"), `{"format":"trunkline-flow/1","kind":"flow","slug":"fails","name":"Fails","start":"t","nodes":{
			"t":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"w"}},"w":{"type":"wait","config":{"event":"go"},"next":{"out":"x","timeout":"x"}},
			"x":{"type":"throw","config":{"code":"broken"}}}}`)
		run, err := f.Runs().Start(t.Context(), aiflow.Start{Flow: made.ID})
		require.NoError(t, err)
		_, err = f.For("stranger").Runs().Watch(t.Context(), run.ID)
		require.ErrorIs(t, err, aiflow.ErrNotFound)
		_, err = f.Runs().Retry(t.Context(), run.ID, false)
		require.ErrorIs(t, err, runtime.ErrNotFailed)
		seen, err := f.Runs().Watch(t.Context(), run.ID)
		require.NoError(t, err)
		require.Equal(t, runtime.Waiting, (<-seen).Status)
		_, err = f.Runs().Event(t.Context(), run.ID, flow.Event{Name: "go"})
		require.NoError(t, err)
		require.Equal(t, "broken", (<-seen).Error.Code)
		_, open := <-seen
		require.False(t, open)
		run, err = f.Runs().Retry(t.Context(), run.ID, false)
		require.NoError(t, err)
		require.Equal(t, runtime.Failed, run.Status)
		_, err = f.For("stranger").Runs().Retry(t.Context(), run.ID, false)
		require.ErrorIs(t, err, aiflow.ErrNotFound)
	})
}
