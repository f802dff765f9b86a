package webhook_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/webhook"
)

func kindsOfDown(t *testing.T, w *env) {
	for i, re := range []reply{{cut: true}, {hang: true}, {status: 429}, {status: 500}, {status: 502}, {status: 503}, {status: 599}} {
		w.follow(always(re))
		for n := range 4 {
			w.publish(t, event(fmt.Sprint("chat", i, n), 1))
		}
		w.quiet(t)
		require.Equal(t, webhook.StateOK, w.now(t).State, "%+v", re)
		w.publish(t, event(fmt.Sprint("chat", i, 4), 1))
		w.quiet(t)
		now := w.now(t)
		require.Equal(t, webhook.StatePaused, now.State, "%+v", re)
		require.NotEmpty(t, now.LastError)
		w.follow(always(reply{}))
		w.pass(t, time.Minute)
		require.Equal(t, webhook.StateOK, w.now(t).State)
		require.Len(t, w.accepted(), 5*(i+1))
	}
	w.counted(t, "endpoint paused", 7)
}

func notDown(t *testing.T, w *env) {
	w.follow(func(r request) reply {
		switch {
		case r.key() == "broken":
			return reply{status: http.StatusInternalServerError}
		case strings.HasPrefix(r.key(), "refused"):
			return reply{status: http.StatusUnprocessableEntity}
		}
		return reply{}
	})
	w.publish(t, event("broken", 1))
	for n := range 8 {
		w.publish(t, event(fmt.Sprint("refused", n), 1))
	}
	w.pass(t, 20*time.Minute) // six attempts of each
	require.Equal(t, webhook.StateOK, w.now(t).State)
	for n := range 4 { // four fail, one passes, four fail
		w.publish(t, event("broken", n+2))
	}
	w.publish(t, event("good", 1))
	w.quiet(t)
	require.Equal(t, webhook.StateOK, w.now(t).State)
	require.Equal(t, []int64{1}, w.accepted()["good"])
	w.counted(t, "endpoint paused", 0)
}

func probes(t *testing.T, w *env) {
	const chats, n = 8, 3
	w.follow(always(reply{status: http.StatusBadGateway}))
	w.fill(t, chats, n)
	w.quiet(t)
	require.Equal(t, webhook.StatePaused, w.now(t).State)
	require.Contains(t, w.now(t).LastError, "502")
	tries := func() (n int) {
		require.NoError(t, w.raw.Get(&n, `SELECT SUM(attempt) FROM queue_partition`))
		return n
	}
	used := tries()
	require.LessOrEqual(t, used, 4, "attempts of what failed before the fifth")
	for _, seconds := range []int{5, 10, 20, 40, 80, 160, 300, 300} {
		before := w.rec.all()
		at := w.clock.now()
		due := w.due(t)
		require.InDelta(t, seconds, due.Seconds(), 0.5)
		w.leap(t, due-time.Millisecond)
		require.Len(t, w.rec.all(), len(before), "nothing passes")
		w.step(t)
		after := w.rec.all()
		require.Len(t, after, len(before)+1, "one event is tried")
		probe := after[len(before)]
		require.Equal(t, `{"key":"chat0","n":0}`, probe.body, "the oldest")
		require.GreaterOrEqual(t, probe.at.Sub(at), due)
	}
	require.Equal(t, used, tries(), "no attempt is used up")
	w.follow(always(reply{}))
	w.step(t)
	require.Equal(t, webhook.StateOK, w.now(t).State)
	require.Empty(t, w.now(t).LastError)
	w.inOrder(t, chats, n)
	w.counted(t, "endpoint paused", 1)
	require.Contains(t, w.logs.String(), "trunkline.endpoint.paused")
	require.Contains(t, w.logs.String(), "trunkline.endpoint.recovered")
}

func pauseAsAsked(t *testing.T, w *env) {
	w.follow(always(reply{status: http.StatusServiceUnavailable, retryAfter: "3600"}))
	w.fill(t, 6, 1)
	w.quiet(t)
	require.Equal(t, webhook.StatePaused, w.now(t).State)
	n := len(w.rec.all())
	w.leap(t, 59*time.Minute)
	require.Len(t, w.rec.all(), n)
	w.follow(always(reply{}))
	w.pass(t, 2*time.Minute)
	w.inOrder(t, 6, 1)
}

// downForADay has more chats than it takes to see that an endpoint is down,
// and fewer, of which some events are on their own by then.
func downForADay(t *testing.T, w *env) {
	for _, chats := range []int{6, 2, 1} {
		w.follow(always(reply{cut: true}))
		w.forget()
		for hour := range 24 {
			for i := range chats {
				w.publish(t, event(fmt.Sprintf("chat%dof%d", i, chats), 2*hour), event(fmt.Sprintf("chat%dof%d", i, chats), 2*hour+1))
			}
			if hour < 1 {
				w.pass(t, time.Hour)
			} else {
				w.leap(t, time.Hour)
			}
		}
		require.Empty(t, w.accepted())
		require.Equal(t, webhook.StatePaused, w.now(t).State)
		w.follow(always(reply{}))
		w.pass(t, 5*time.Minute)
		w.inOrder(t, chats, 48)
		require.Equal(t, webhook.StateOK, w.now(t).State)
	}
}

func downForFiveDays(t *testing.T, w *env) {
	const chats, n = 6, 2
	w.follow(always(reply{status: http.StatusInternalServerError}))
	w.fill(t, chats, n)
	w.leap(t, 5*24*time.Hour-time.Minute)
	require.Equal(t, webhook.StatePaused, w.now(t).State)
	w.pass(t, 10*time.Minute)
	now := w.now(t)
	require.Equal(t, webhook.StateDisabled, now.State)
	require.Contains(t, now.LastError, "failed for too long")
	require.Contains(t, now.LastError, "500")
	require.Len(t, w.all(t, "failed"), chats*n)
	w.counted(t, "endpoint disabled", 1)
	require.Equal(t, 1, strings.Count(w.logs.String(), "trunkline.endpoint.disabled"))
	require.Empty(t, w.accepted())

	w.follow(always(reply{}))
	on := true
	_, err := w.Update(t.Context(), w.ep.ID, webhook.Change{Enabled: &on})
	require.NoError(t, err)
	queued, err := w.Replay(t.Context(), webhook.Replay{Endpoint: w.ep.ID, State: "failed"})
	require.NoError(t, err)
	require.Equal(t, chats*n, queued)
	w.quiet(t)
	w.inOrder(t, chats, n)
	require.Len(t, w.all(t, "delivered"), chats*n)
}

func switchedOff(t *testing.T, w *env) {
	enable := func(on bool) {
		_, err := w.Update(t.Context(), w.ep.ID, webhook.Change{Enabled: &on})
		require.NoError(t, err)
		w.quiet(t)
	}
	w.follow(always(reply{status: http.StatusConflict}))
	w.publish(t, event("chat", 1), event("chat", 2))
	w.quiet(t)
	enable(false)
	require.Equal(t, webhook.StateDisabled, w.now(t).State)
	w.publish(t, event("chat", 3))
	w.pass(t, time.Hour)
	require.Len(t, w.rec.all(), 1)
	require.Len(t, w.all(t, "failed"), 2, "what waited is over, and can be replayed")
	w.follow(always(reply{}))
	enable(true)
	w.publish(t, event("chat", 4))
	w.quiet(t)
	require.Equal(t, []int64{3}, w.accepted()["chat"], "the count goes on with what it was told")
	require.Contains(t, w.rec.all()[1].body, `"n":4`)
}
