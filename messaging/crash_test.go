package messaging_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// successor is the next process on the database, after the first has died.
func successor(t testing.TB, db *sqlx.DB, first *fixture) *fixture {
	t.Helper()
	return setup(t, db, config{net: first.net, clock: first.clock, options: func(o *messaging.Options) { o.Exclusive = true }})
}

// TestCrashBetweenTheAnswerAndItsRecord leaves what a process leaves that died
// after the network took a message and before that was recorded.
func TestCrashBetweenTheAnswerAndItsRecord(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		db := testkit.Open(t, url)
		first := setup(t, db, config{idle: true})
		ref := first.openChat(t, testKind)
		taken := make(chan struct{})
		first.net.script(func(_ netctx, out provider.Outbound, _ int) (provider.Receipt, error) {
			r := first.net.taken(out)
			if plainText(out.Content) == "lost" {
				close(taken)
				<-t.Context().Done() // the process is gone
			}
			return r, nil
		})
		req := say(ref, "lost")
		req.Wait = 0
		own := first.send(t, req).ID
		req = say(ref, "next")
		req.Wait = 0
		first.send(t, req)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- first.svc.Run(ctx) }()
		t.Cleanup(func() { // it comes back from the dead, too late for anything
			cancel()
			require.NoError(t, <-done)
		})
		<-taken

		second := successor(t, testkit.Open(t, url), first)
		second.until(t, "the next one is sent", func() bool {
			ms := second.messages(t, ref, "111")
			return ms[0].Status == "SENDING" && ms[1].Error != nil
		})
		lost := second.message(t, ref, "111", own)
		require.Equal(t, "PENDING", lost.Status)
		require.Equal(t, "unconfirmed", lost.Error.Code)
		require.Equal(t, []string{"lost", "next"}, second.net.texts(), "nothing is sent twice")
		second.receive(t, ref, &provider.StatusChange{MessageID: "net.1", OwnID: own, Status: provider.StatusDelivered})
		require.Equal(t, []string{"message:SENDING", "status:DELIVERED"}, second.sink.of(t, "net.1"))
	})
}

func TestPendingSendsSurviveARestart(t *testing.T) {
	t.Parallel()
	for _, kind := range []provider.Kind{testKind, ownIDsKind} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
				first := setup(t, db, config{})
				ref := first.openChat(t, kind)
				first.net.script(func(netctx, provider.Outbound, int) (provider.Receipt, error) {
					return provider.Receipt{}, &provider.Temporary{Err: errors.New("down"), After: 2 * time.Second}
				})
				m := first.send(t, say(ref, "one"))
				require.Equal(t, "PENDING", m.Status)
				first.stop()
				tried := first.net.texts() // more than once where the machine stands still
				req := say(ref, "two")
				req.Wait = 0
				first.send(t, req)

				first.net.script(nil)
				second := successor(t, db, first)
				second.until(t, "both are sent", func() bool { return second.messages(t, ref, "111")[0].Status == "SENDING" })
				require.Empty(t, slices.DeleteFunc(slices.Clone(tried), func(words string) bool { return words == "one" }))
				require.Equal(t, append(tried, "one", "two"), second.net.texts())
			})
		})
	}
}

// TestStopWaitsForTheAnswer stops a service while the network thinks.
func TestStopWaitsForTheAnswer(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.openChat(t, testKind)
		asked, answer := make(chan struct{}), make(chan struct{})
		f.net.script(func(_ netctx, out provider.Outbound, _ int) (provider.Receipt, error) {
			close(asked)
			<-answer
			return f.net.taken(out), nil
		})
		req := say(ref, "hi")
		req.Wait = 0
		f.send(t, req)
		<-asked
		f.stopAfter(t, answer)
		require.Equal(t, "SENDING", f.messages(t, ref, "111")[0].Status)
	})
}

// TestTheRecordIsRefused lets the database refuse to record an answer.
func TestTheRecordIsRefused(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true, options: func(o *messaging.Options) {
			o.Sinks = append(o.Sinks, &refusing{times: 1})
		}})
		f.run(t)
		ref := f.reference(t, testKind)
		template := say(ref, "")
		template.Content = provider.Template{Template: provider.TemplateCall{Name: "hi", Language: provider.TemplateLanguage{Code: "en"}}}
		m := f.send(t, template)
		require.Equal(t, "SENDING", m.Status)
		require.Equal(t, "net.1", m.ID)
		require.Len(t, f.net.attempts(), 1, "the answer was not forgotten")
	})
}

// refusing is a sink that fails some times.
type refusing struct{ times int }

func (r *refusing) EventsTx(context.Context, messaging.Tx, []messaging.Event) error {
	if r.times--; r.times >= 0 {
		return errors.New("refused")
	}
	return nil
}

func TestTwoNodesSendOnce(t *testing.T) {
	t.Parallel()
	url := testkit.PostgresURL(t)
	a := setup(t, testkit.Open(t, url), config{})
	b := setup(t, testkit.Open(t, url), config{net: a.net, clock: a.clock})
	ref := a.openChat(t, testKind)
	const n = 40
	for i := range n {
		req := say(ref, string(rune('A'+i)))
		req.Wait = 0
		[]*fixture{a, b}[i%2].send(t, req)
	}
	a.until(t, "all are sent", func() bool { return len(a.net.texts()) >= n })
	a.until(t, "all are recorded", func() bool {
		return count(t, a.db, `SELECT count(*) FROM messaging_message WHERE mine AND status = $1`, int(provider.StatusSending)) == n
	})
	texts := a.net.texts()
	require.Len(t, texts, n)
	for i := range n {
		require.Equal(t, string(rune('A'+i)), texts[i], "in the order of the commits")
	}
	// A send on one node is seen by one who waits on the other.
	sent, err := b.acc.Send(t.Context(), say(ref, "last"))
	require.NoError(t, err)
	require.Equal(t, "SENDING", sent.Message.Status)
}
