package main_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counts are what a promise was checked on.
type counts struct {
	messages, webhooks, repeats     int
	sends, confirmed, cut, statuses int
}

// finished waits until nothing of the load is left to do. An attempt that was cut off before the network knew of it leaves
// its message in doubt, which is settled, too.
func (l *load) finished(t *testing.T) {
	t.Helper()
	begin := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for left := l.left(t); left != ""; left = l.left(t) {
		require.Less(t, time.Since(begin), takenUp+atWork, left)
		<-tick.C
	}
}

// left says what is not done yet.
func (l *load) left(t *testing.T) string {
	t.Helper()
	read, recorded := map[string]bool{}, map[string]bool{}
	for _, d := range l.env.sink.received() {
		if d.event == "message" {
			recorded[d.id] = true
		}
		if d.mine && d.status == "READ" {
			read[d.id] = true
		}
	}
	for _, ids := range l.written {
		for _, id := range ids {
			if !recorded[id] {
				return "a message that came in has made no webhook"
			}
		}
	}
	shown := map[string]bool{}
	for _, m := range l.env.graph.Shown("") {
		shown[m.Text] = true
		if !recorded[m.ID] || !read[m.ID] {
			return "a message that was sent and read has not made its webhooks"
		}
	}
	for contact, texts := range l.accepted {
		if !slices.ContainsFunc(texts, func(text string) bool { return !shown[text] }) {
			continue
		}
		for _, m := range l.env.history(t, contact) {
			if m.Mine && !shown[m.Text] && m.Status == "PENDING" && m.Error == nil {
				return "a message has not been tried"
			}
		}
	}
	return ""
}

// check holds what happened against every promise.
func (l *load) check(t *testing.T, kills int) counts {
	t.Helper()
	require.NoError(t, errors.Join(l.wrong...))
	l.env.sink.sound(t)
	c := counts{}
	events := map[string][]delivery{} // by contact
	for _, d := range l.env.sink.received() {
		events[d.contact()] = append(events[d.contact()], d)
	}
	c.webhooks, c.repeats = l.env.sink.count()
	require.LessOrEqual(t, l.env.sink.maxRepeats(), kills+l.env.balancer.givenUp(t), "a webhook is repeated if it was in hand at a kill")
	for _, contact := range slices.Sorted(maps.Keys(l.written)) {
		stored := l.env.history(t, contact)
		l.checkStored(t, contact, stored, &c)
		checkEvents(t, contact, stored, events[contact])
	}
	l.checkNetwork(t, kills, &c)
	return c
}

// checkStored: every callback has exactly one message, in the order in which
// it was answered, and every accepted send one record.
func (l *load) checkStored(t *testing.T, contact string, stored []record, c *counts) {
	t.Helper()
	var in, out []string
	for _, m := range stored {
		if m.Mine {
			out = append(out, m.Text)
		} else {
			in = append(in, m.ID)
		}
	}
	require.Equal(t, l.written[contact], in, "messages of %s", contact)
	require.Equal(t, l.accepted[contact], out, "sends to %s", contact)
	c.messages += len(in)
	c.sends += len(out)
}

// checkEvents checks that the webhooks of a chat are in order and without gaps,
// that each message occurs once, in the order of the records, and that no status
// decreases.
func checkEvents(t *testing.T, contact string, stored []record, events []delivery) {
	t.Helper()
	rank := map[string]int{"SENDING": 1, "FAIL": 2, "DELIVERED": 3, "READ": 4}
	var in []string
	recorded := map[string]int{} // rank of the last status by message
	for i, d := range events {
		require.Equal(t, int64(i+1), d.sequence, "a webhook of %s is out of order", contact)
		_, known := recorded[d.id]
		require.Equal(t, d.event == "status", known, "%s %s of %s: a message is told once, and before its statuses", d.event, d.status, d.id)
		if !d.mine && d.event == "message" {
			in = append(in, d.id)
		}
		require.Greater(t, rank[d.status], recorded[d.id], "the status of %s", d.id)
		recorded[d.id] = rank[d.status]
	}
	var want []string
	for _, m := range stored {
		if !m.Mine {
			want = append(want, m.ID)
		}
	}
	require.Equal(t, want, in, "the order of messages from %s", contact)
}

// maxCut is how many attempts a kill can cut off.
const maxCut = 16

// checkNetwork: nothing left twice or out of order, what the network took is
// confirmed, and what it did not take is known to be in doubt.
func (l *load) checkNetwork(t *testing.T, kills int, c *counts) {
	t.Helper()
	data, shown := map[string]bool{}, map[string][]string{}
	for _, m := range l.env.graph.Shown("") {
		require.False(t, data[m.CallbackData], "%s left twice", m.Text)
		data[m.CallbackData] = true
		shown[m.To] = append(shown[m.To], m.Text)
	}
	for contact, texts := range l.accepted {
		taken := map[string]bool{}
		for _, text := range shown[contact] {
			require.False(t, taken[text], "%q left twice", text)
			taken[text] = true
		}
		var left []string
		for _, text := range texts {
			if taken[text] {
				left = append(left, text)
			}
		}
		require.Equal(t, left, shown[contact], "sends to %s are in order", contact)
		for _, m := range l.env.history(t, contact) {
			switch {
			case !m.Mine:
			case taken[m.Text]:
				require.Equal(t, "READ", m.Status, "%+v was taken and read", m)
				require.Nil(t, m.Error)
				c.confirmed++
			default:
				require.NotNil(t, m.Error, "%+v was not taken", m)
				assert.Equal(t, "unconfirmed", m.Error.Code)
				assert.Contains(t, []string{"PENDING", "FAIL"}, m.Status)
				c.cut++
			}
		}
	}
	require.LessOrEqual(t, c.cut, kills*maxCut+l.env.balancer.givenUp(t), "what was cut off was in hand at a kill, or given up by a server that says so")
	c.statuses = 3 * c.confirmed
}

// report prints one line for each promise.
func (l *load) report(t *testing.T, what string, kills int, c counts, drained time.Duration) {
	t.Helper()
	for _, line := range []string{
		fmt.Sprintf("%d callbacks were answered 200: %d messages, each stored once", l.posted, c.messages),
		fmt.Sprintf("%d webhooks, each delivered at least once (%d repeats), in order in each of %d chats", c.webhooks, c.repeats, loadChats),
		fmt.Sprintf("%d sends were accepted in %d tries: %d left, each once; %d attempts were cut off and said so", c.sends, l.tries, c.confirmed, c.cut),
		fmt.Sprintf("all work was done %.1f s after the last start", drained.Seconds()),
	} {
		t.Logf("promise: %s, killed %d times: %s", what, kills, line)
	}
}
