package flow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

// TestSchedule checks the times of schedules, including those that are skipped or
// occur twice when clocks change.
func TestSchedule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about, cron, zone, after string
		want                     []string
	}{
		{"every day", "0 9 * * *", "Europe/Berlin", "2026-03-02T08:00:00Z", []string{"2026-03-03T09:00:00+01:00", "2026-03-04T09:00:00+01:00"}},
		{"a minute is long", "*/15 8-9 * * 1-5", "UTC", "2026-03-06T08:44:59Z", []string{
			"2026-03-06T08:45:00Z", "2026-03-06T09:00:00Z", "2026-03-06T09:15:00Z", "2026-03-06T09:30:00Z", "2026-03-06T09:45:00Z", "2026-03-09T08:00:00Z",
		}},
		{"a number with a step", "50/5 * * * *", "UTC", "2026-03-06T08:00:00Z", []string{"2026-03-06T08:50:00Z", "2026-03-06T08:55:00Z", "2026-03-06T09:50:00Z"}},
		{"Sunday is 7, too", "0 0 * * 7", "UTC", "2026-03-06T08:00:00Z", []string{"2026-03-08T00:00:00Z", "2026-03-15T00:00:00Z"}},
		{"a day of the month or a weekday", "0 0 13 * 5", "UTC", "2026-03-07T00:00:00Z", []string{"2026-03-13T00:00:00Z", "2026-03-20T00:00:00Z"}},
		{"a weekday in a part of the month", "0 0 */2 * 1", "UTC", "2026-03-07T00:00:00Z", []string{"2026-03-09T00:00:00Z", "2026-03-23T00:00:00Z"}},
		{"the end of a month", "0 0 31 * *", "UTC", "2026-03-31T00:00:00Z", []string{"2026-05-31T00:00:00Z", "2026-07-31T00:00:00Z"}},
		{"a leap day", "0 12 29 2 *", "UTC", "2026-03-01T00:00:00Z", []string{"2028-02-29T12:00:00Z", "2032-02-29T12:00:00Z"}},
		{"a leap day over the turn of a century", "0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", []string{"2104-02-29T00:00:00Z"}},

		{"clocks go from 2 to 3", "30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", []string{
			"2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00",
		}},
		{"all of the hour that is left out is one time", "*/20 2,3 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", []string{
			"2026-03-29T03:00:00+02:00", "2026-03-29T03:20:00+02:00", "2026-03-29T03:40:00+02:00", "2026-03-30T02:00:00+02:00",
		}},
		{"clocks go from 3 to 2", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", []string{
			"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00",
		}},
		{"every hour has both", "30 * * * *", "Europe/Berlin", "2026-10-24T23:00:00Z", []string{
			"2026-10-25T01:30:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-25T03:30:00+01:00",
		}},
		{"from within the hour that comes twice", "*/30 * * * *", "Europe/Berlin", "2026-10-25T00:45:00Z", []string{
			"2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00", "2026-10-25T03:00:00+01:00",
		}},
		{"from within its second half", "0 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", []string{"2026-10-26T02:00:00+01:00"}},
		{"west of Greenwich", "30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", []string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"}},
		{"midnight does not come", "0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", []string{"2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"}},
		{"clocks go by half an hour", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", []string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"}},
		{"a day that an island left out", "0 12 * * *", "Pacific/Apia", "2011-12-29T23:00:00Z", []string{"2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"}},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			s := flow.Schedule{Cron: c.cron, Timezone: c.zone}
			at, err := time.Parse(time.RFC3339, c.after)
			require.NoError(t, err)
			var got []string
			for range c.want {
				next, ok := s.Next(at)
				require.True(t, ok)
				require.True(t, next.After(at))
				got = append(got, next.Format(time.RFC3339))
				at = next
			}
			require.Equal(t, c.want, got)
		})
	}
	for _, never := range []string{"0 0 31 2 *", "0 0 30,31 2 *", "60 * * * *", "* * * *", ""} {
		_, ok := flow.Schedule{Cron: never}.Next(goldenNow)
		require.False(t, ok, never)
	}
}

// TestScheduleOfTrigger reads the schedules of a trigger node.
func TestScheduleOfTrigger(t *testing.T) {
	t.Parallel()
	p, problems := compile(t, node.NewTypes(), []byte(`{"format":"trunkline-flow/1","kind":"flow","slug":"s","name":"S","start":"t","settings":{"timezone":"Asia/Kolkata"},"nodes":{
		"t":{"type":"trigger","config":{"on":[{"kind":"schedule","cron":"0 9 * * *"},{"kind":"api"},{"kind":"schedule","cron":"* * * * *","timezone":"Europe/Berlin"}]},"next":{"out":"e"}},"e":{"type":"end"}}}`), nil)
	require.NotNil(t, p, "%v", problems)
	require.Equal(t, []flow.Schedule{{Cron: "0 9 * * *", Timezone: "Asia/Kolkata"}, {Cron: "* * * * *", Timezone: "Europe/Berlin"}}, p.Trigger().Schedules())
	_, problems = compile(t, node.NewTypes(), []byte(`{"format":"trunkline-flow/1","kind":"flow","slug":"s","name":"S","start":"t","nodes":{
		"t":{"type":"trigger","config":{"on":[{"kind":"schedule","cron":"0 9 30 2 *"}]},"next":{"out":"e"}},"e":{"type":"end"}}}`), nil)
	require.Equal(t, []string{"error trigger.cron /nodes/t/config/on/0/cron: has a day that never comes (for example the 31st of February)"}, lines(problems))
}
