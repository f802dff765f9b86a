package webhook_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/webhook"
)

// table are the waits between the attempts of a refused event.
var table = []time.Duration{
	time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

func retryTable(t *testing.T, w *env) {
	w.follow(always(reply{status: http.StatusForbidden}))
	w.publish(t, event("chat", 1))
	for i, wait := range table {
		w.quiet(t)
		d := w.one(t, "pending")
		require.Len(t, d.Attempts, i+1)
		require.InEpsilon(t, wait, d.NextAttemptAt.Sub(d.Attempts[i].At), 0.201)
		w.leap(t, d.NextAttemptAt.Sub(w.clock.now())-time.Millisecond)
		require.Len(t, w.rec.all(), i+1, "not sooner than planned")
		w.step(t)
		require.Len(t, w.rec.all(), i+2)
		require.WithinDuration(t, d.NextAttemptAt, w.rec.all()[i+1].at, time.Second)
	}
	d := w.one(t, "dead")
	require.Len(t, d.Attempts, 13)
	require.True(t, d.NextAttemptAt.IsZero())
	_, _, ok := w.look(t)
	require.False(t, ok)
	require.Equal(t, webhook.StateOK, w.now(t).State)
	w.counted(t, "retried", 12)
	w.counted(t, "dead", 1)

	w.follow(always(reply{}))
	n, err := w.Replay(t.Context(), webhook.Replay{IDs: []string{d.ID}})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	w.quiet(t)
	require.Equal(t, d.ID, w.one(t, "delivered").ID)
	require.Equal(t, map[string][]int64{"chat": {1}}, w.accepted()) // sound compares its bytes and id
}

func orderUnderRetries(t *testing.T, w *env) {
	const chats, n = 6, 4
	tries := map[string]int{}
	w.follow(func(r request) reply {
		tries[r.body]++
		if tries[r.body] <= int(r.seq())%3 { // once, twice, not at all
			return reply{status: http.StatusConflict}
		}
		return reply{}
	})
	w.fill(t, chats, n)
	w.pass(t, time.Minute)
	w.inOrder(t, chats, n)
}

func deferAndPass(t *testing.T, w *env) {
	refused := true
	w.follow(func(r request) reply {
		if refused && r.key() == "chat" && r.seq()%4 == 1 {
			return reply{status: http.StatusBadRequest}
		}
		return reply{}
	})
	w.publish(t, event("chat", 1), event("chat", 2), event("chat", 3), event("other", 1))
	w.quiet(t)
	require.Equal(t, map[string][]int64{"other": {1}}, w.accepted())
	for range 3 {
		w.step(t)
		require.Empty(t, w.accepted()["chat"])
	}
	w.pass(t, 10*time.Minute-w.clock.now().Sub(w.rec.all()[0].at))
	require.Equal(t, []int64{2, 3}, w.accepted()["chat"])
	w.publish(t, event("chat", 4))
	w.quiet(t)
	require.Equal(t, []int64{2, 3, 4}, w.accepted()["chat"])
	require.Equal(t, webhook.StateOK, w.now(t).State)

	w.publish(t, event("chat", 5))
	w.quiet(t)
	later := w.all(t, "pending")[0]
	require.EqualValues(t, 5, later.Sequence)
	require.InEpsilon(t, time.Second, later.NextAttemptAt.Sub(later.Attempts[0].At), 0.201, "it has attempts of its own")

	d := w.all(t, "pending")[1]
	require.EqualValues(t, 1, d.Sequence)
	require.InEpsilon(t, 10*time.Minute, d.NextAttemptAt.Sub(d.Attempts[len(d.Attempts)-1].At), 0.201, "it stays in the table")
	w.mu.Lock()
	refused = false
	w.mu.Unlock()
	w.pass(t, 12*time.Minute)
	require.Equal(t, []int64{2, 3, 4, 5, 1}, w.accepted()["chat"])
	for i, d := range w.all(t, "delivered") {
		for j := 1; j < len(d.Attempts); j++ {
			require.Greater(t, d.Attempts[j].Fence, d.Attempts[j-1].Fence, "claims of delivery %d", i)
		}
	}
}

func retryAfter(t *testing.T, w *env) {
	for _, c := range []struct {
		name   string
		status int
		value  func() string
		wait   time.Duration
	}{
		{"429 seconds", 429, func() string { return "120" }, 2 * time.Minute},
		{"503 seconds", 503, func() string { return "7200" }, 2 * time.Hour},
		{"503 date", 503, func() string { return w.clock.now().Add(time.Hour).Format(http.TimeFormat) }, time.Hour},
		{"a year", 503, func() string { return strconv.Itoa(365 * 24 * 3600) }, 24 * time.Hour},
		{"nonsense", 503, func() string { return "soon" }, time.Second},
		{"500", 500, func() string { return "120" }, time.Second},
	} {
		w.follow(func(request) reply { return reply{status: c.status, retryAfter: c.value()} })
		w.publish(t, event(c.name, 1))
		w.quiet(t)
		d := w.one(t, "pending")
		got := d.NextAttemptAt.Sub(d.Attempts[0].At)
		require.InDelta(t, c.wait, got, float64(c.wait)*0.201+float64(time.Second), c.name)
		w.follow(always(reply{}))
		w.step(t)
		require.Equal(t, []int64{1}, w.accepted()[c.name])
	}
}
