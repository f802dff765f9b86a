package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

const (
	webContacts = 2  // of the reference, in the loop of kills
	webTexts    = 10 // of each contact in a round
)

// writers are phones that write to a reference, and what they have written.
type writers struct {
	phones []*webtest.Phone
	ids    [][]string // by phone, in order
}

func (r *webEnv) writers(n int) *writers {
	w := &writers{ids: make([][]string, n)}
	for range n {
		w.phones = append(w.phones, r.fake.AddPhone(nil))
	}
	return w
}

// write lets each phone write some texts to the owner of a reference.
func (w *writers) write(ctx context.Context, l *webReference, texts int) error {
	g, ctx := errgroup.WithContext(ctx)
	for i, p := range w.phones {
		g.Go(func() error {
			for range texts {
				id, err := p.SendText(ctx, l.owner.LID(), fmt.Sprintf("text %d", len(w.ids[i])))
				if err != nil {
					return err
				}
				w.ids[i] = append(w.ids[i], id)
			}
			return nil
		})
	}
	return g.Wait()
}

// counted fails the test unless each text is stored once.
func (w *writers) counted(t *testing.T, r *webEnv, l *webReference) (n int) {
	t.Helper()
	for i, p := range w.phones {
		r.stored(t, l, p, w.ids[i])
		n += len(w.ids[i])
	}
	return n
}

// TestWebKillWhileReceiving kills the server again and again at a random moment
// while phones write to its reference, and then counts.
func TestWebKillWhileReceiving(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, database []string) {
		kills := testkit.Rounds(8)
		if len(database) > 2 {
			kills = testkit.Rounds(3) // each waits until the lease of the dead has ended
		}
		r := newWebEnv(t)
		n := r.launch(t, database...)
		r.balancer.open(n)
		r.signUp(t)
		l := r.link(t)
		r.ref = l.ref
		r.register(t)
		w := r.writers(webContacts)

		begin := time.Now()
		require.NoError(t, w.write(within(t), l, webTexts))
		require.NoError(t, l.device.AwaitIdle(within(t)))
		span := time.Since(begin) // in which a kill hits the receiving
		amidst := 0
		for range kills {
			before, acked := r.logins(), len(l.device.Acks())
			var g errgroup.Group
			g.Go(func() error { return w.write(within(t), l, webTexts) })
			pass(t, rand.N(span)+time.Millisecond)
			n.kill()
			r.balancer.open()
			if got := len(l.device.Acks()) - acked; got > 0 && got < webContacts*webTexts {
				amidst++
			}
			n = r.launch(t, database...)
			r.balancer.open(n)
			require.NoError(t, g.Wait())
			r.back(t, before, time.Now())
		}
		require.NoError(t, l.device.AwaitIdle(within(t)))
		messages := w.counted(t, r, l)
		for i, p := range w.phones {
			r.recorded(t, number(p), w.ids[i][len(w.ids[i])-1])
			checkEvents(t, number(p), r.history(t, number(p)), r.sink.about(number(p)))
		}
		r.sink.sound(t)
		r.sound(t)
		_, repeats := r.sink.count()
		t.Logf("promise: %s, killed %d times, %d of them between the first and the last message of a round: phones wrote %d messages, "+
			"each stored once and in order; each made its webhook (%d repeats)", t.Name(), kills, amidst, messages, repeats)
		n.terminate(t)
	})
}

// manyReferences returns how many references are in a test: ten, and in a soak fifty.
func manyReferences() int {
	if testkit.Rounds(0) >= 50 {
		return 50
	}
	return 10
}

// TestWebRestarts stops and kills the server repeatedly: all its references connect
// again.
func TestWebRestarts(t *testing.T) {
	t.Parallel()
	rounds := testkit.Rounds(3)
	r := newWebEnv(t)
	args := []string{"--data", t.TempDir()}
	n := r.launch(t, args...)
	r.balancer.open(n)
	r.signUp(t)
	for range manyReferences() {
		r.link(t)
	}
	var elapsed []time.Duration
	for i := range rounds {
		before := r.logins()
		if i%2 == 0 {
			n.terminate(t)
		} else {
			n.kill()
		}
		r.balancer.open()
		n = r.launch(t, args...)
		r.balancer.open(n)
		elapsed = append(elapsed, r.back(t, before, time.Now()))
	}
	for _, l := range r.refs {
		r.connected(t, l)
	}
	r.sound(t)
	t.Logf("promise: %s: after each of %d restarts all %d references were connected again without a new code, at the latest %.1f s after it",
		t.Name(), rounds, len(r.refs), slices.Max(elapsed).Seconds())
	n.terminate(t)
}

// TestWebTakeOver kills the node that has all references, and then ends the one that
// took them over: each time another has them, and nothing is lost.
func TestWebTakeOver(t *testing.T) {
	t.Parallel()
	url, files := testkit.PostgresURL(t), t.TempDir()
	r := newWebEnv(t)
	launch := func() *node {
		return r.launch(t, "--data", t.TempDir(), "--database-url", url, "--media", files, "--secret", sharedSecret)
	}
	one := launch()
	r.balancer.open(one)
	r.signUp(t)
	for range manyReferences() {
		r.link(t)
	}
	ws := make([]*writers, len(r.refs))
	for i := range ws {
		ws[i] = r.writers(1)
	}
	two := launch()
	r.balancer.open(two)
	r.askOtherNode(t, r.refs[0], ws[0].phones[0])

	before, begin := r.logins(), time.Now()
	one.kill()
	r.balancer.open(two)
	r.writeAll(t, ws)
	killed := r.back(t, before, begin)

	three := launch()
	before, begin = r.logins(), time.Now()
	require.NoError(t, two.cmd.Process.Signal(syscall.SIGTERM))
	r.balancer.open(three)
	r.writeAll(t, ws)
	handed := r.back(t, before, begin)
	<-two.ended
	require.NoError(t, two.err, two.stderr)
	require.Less(t, killed, takenUp+atWork)

	messages := r.countAll(t, ws)
	r.sound(t)
	t.Logf("promise: %s: %d references were connected on another node %.1f s after kill -9 of their node, and %.1f s after SIGTERM; of %d messages "+
		"that phones wrote meanwhile none was lost or doubled, and no reference was connected twice", t.Name(), len(r.refs), killed.Seconds(), handed.Seconds(), messages)
	three.terminate(t)
}

// TestWebFreeze suspends the node that owns the references for longer than its lease,
// and resumes it. Another node takes the references over and keeps them. Nothing is
// lost, and the resumed node no longer acts for the references.
func TestWebFreeze(t *testing.T) {
	t.Parallel()
	url, files := testkit.PostgresURL(t), t.TempDir()
	r := newWebEnv(t)
	launch := func() *node {
		return r.launch(t, "--data", t.TempDir(), "--database-url", url, "--media", files, "--secret", sharedSecret)
	}
	one := launch()
	r.balancer.open(one)
	ws := r.linkSome(t)
	two := launch()
	r.balancer.open(two)

	before, begin := r.logins(), time.Now()
	thaw := one.freeze(t)
	r.writeAll(t, ws) // some of it to the connections of the one that sleeps
	elapsed := r.back(t, before, begin)
	r.writeAll(t, ws)
	owners := r.owners(t)
	thaw()
	r.writeAll(t, ws)

	messages := r.countAll(t, ws)
	require.Equal(t, owners, r.owners(t), "the node that woke took no reference back")
	before = r.logins()
	one.terminate(t)
	for i, l := range r.refs {
		require.NoError(t, ws[i].write(within(t), l, 3))
		require.NoError(t, l.device.AwaitIdle(within(t)))
		r.connected(t, l)
	}
	require.Equal(t, before, r.logins(), "the end of the node that woke disconnected no reference")
	t.Logf("promise: %s: %d references were connected on another node %.1f s after their own froze, and stayed there when it woke; of %d messages "+
		"none was lost or doubled", t.Name(), len(r.refs), elapsed.Seconds(), messages)
	two.terminate(t)
}

// linkSome signs up, links a few references, and returns writers to each.
func (r *webEnv) linkSome(t *testing.T) []*writers {
	t.Helper()
	r.signUp(t)
	var ws []*writers
	for range 3 {
		r.link(t)
		ws = append(ws, r.writers(1))
	}
	return ws
}

// owners returns the node of each reference. That node may connect it again, such as
// after what it received could not be stored in time.
func (r *webEnv) owners(t *testing.T) []any {
	t.Helper()
	out := make([]any, len(r.refs))
	for i, l := range r.refs {
		out[i] = r.session(t, l.ref)["node"]
		require.NotEmpty(t, out[i])
	}
	return out
}

// countAll checks that each reference is connected and has what was written to it, and
// returns how many messages those are.
func (r *webEnv) countAll(t *testing.T, ws []*writers) (messages int) {
	t.Helper()
	for i, l := range r.refs {
		require.NoError(t, l.device.AwaitIdle(within(t)))
		messages += ws[i].counted(t, r, l)
		r.connected(t, l)
	}
	return messages
}

// TestWebCutOff cuts the node that owns the references off from the database, but not from
// the network, for longer than its lease. It disconnects them before another node connects
// them, and does not take them back.
func TestWebCutOff(t *testing.T) {
	t.Parallel()
	url, files := testkit.PostgresURL(t), t.TempDir()
	p := startProxy(t, url)
	r := newWebEnv(t)
	launch := func(url string) *node {
		return r.launch(t, "--data", t.TempDir(), "--database-url", url, "--media", files, "--secret", sharedSecret)
	}
	one := launch(p.url)
	r.balancer.open(one)
	ws := r.linkSome(t)
	r.writeAll(t, ws)
	two := launch(url)
	r.balancer.open(two)

	before, begin := r.logins(), time.Now()
	p.hung.Lock()
	r.writeAll(t, ws) // some of it to connections of the one that cannot store it
	elapsed := r.back(t, before, begin)
	require.Empty(t, r.fake.Conflicts(), "no reference was connected twice at once")
	r.writeAll(t, ws)
	owners := r.owners(t)
	p.silence()
	p.hung.Unlock()
	one.awaitProbe(t, http.StatusOK)
	r.writeAll(t, ws)

	messages := r.countAll(t, ws)
	require.Equal(t, owners, r.owners(t), "the node that was cut off took no reference back")
	r.sound(t)
	t.Logf("promise: %s: %d references were connected on another node %.1f s after their own lost the database, each on one node at a time; of %d messages "+
		"none was lost or doubled", t.Name(), len(r.refs), elapsed.Seconds(), messages)
	one.terminate(t)
	two.terminate(t)
}

// askOtherNode asks a node for what only the one with the reference can do.
func (r *webEnv) askOtherNode(t *testing.T, l *webReference, ana *webtest.Phone) {
	t.Helper()
	found := r.call(t, 200, "GET", fmt.Sprintf("/chats/check?reference=%d&phone=%s", l.ref, number(ana)), "")
	require.Equal(t, true, found["exists"])
	nobody := r.call(t, 200, "GET", fmt.Sprintf("/chats/check?reference=%d&phone=16505550000", l.ref), "")
	require.Equal(t, false, nobody["exists"])
	group := r.call(t, 201, "POST", "/chats/group", fmt.Sprintf(`{"reference":%d,"subject":"Friends","participants":[%q]}`, l.ref, number(ana)))
	require.Equal(t, "Friends", group["subject"])
	r.call(t, 404, "GET", fmt.Sprintf("/chats/group?reference=%d&chatId=120363000000000000@g.us", l.ref), "")
}

// writeAll lets each reference get some texts.
func (r *webEnv) writeAll(t *testing.T, ws []*writers) {
	t.Helper()
	for i, l := range r.refs {
		require.NoError(t, ws[i].write(within(t), l, 3))
	}
}
