package messaging_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// TestSpansOfReceipts: what networks report at once is stored together, and yet
// each event follows from its own report.
func TestSpansOfReceipts(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var spans testkit.Spans
		f := setup(t, db, config{options: func(o *messaging.Options) { o.Trace = spans.Begin }})
		ref := f.reference(t, testKind)
		const n = 20
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				chat := fmt.Sprint("1", i)
				if err := f.svc.Receive(t.Context(), ref, []provider.Event{text("m"+chat, chat, "hello"), text("n"+chat, chat, "again")}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		received := spans.Named("messaging.receive")
		require.Len(t, received, n)
		byOwn := map[string]testkit.Span{}
		for _, s := range received {
			byOwn[s.Own] = s
			require.Empty(t, s.Parent)
			require.False(t, s.Failed)
			require.Equal(t, map[string]string{"reference": fmt.Sprint(ref), "kind": string(testKind), "events": "2"}, s.Attrs)
		}
		ofChat := map[string]string{}
		for _, e := range f.sink.all(t) {
			require.Contains(t, byOwn, e.Traceparent)
			if ofChat[e.ChatID] == "" {
				ofChat[e.ChatID] = e.Traceparent
			}
			require.Equal(t, ofChat[e.ChatID], e.Traceparent)
		}
		require.Len(t, ofChat, n)
	})
}

// TestSpansOfSends: each attempt is a span below the one in which the message
// was queued, also on the node that takes over, and the event follows from the
// last.
func TestSpansOfSends(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var there, here testkit.Spans
		f := setup(t, db, config{idle: true, options: func(o *messaging.Options) { o.Trace = there.Begin }})
		ref := f.openChat(t, testKind)
		req := say(ref, "hi")
		req.Wait = 0
		m := f.send(t, req)
		queued := there.Named("messaging.queue")
		require.Len(t, queued, 1)
		require.Equal(t, m.ID, queued[0].Attrs["message"])

		f.net.fail(&provider.Temporary{Err: errors.New("not yet")})
		second := setup(t, db, config{net: f.net, clock: f.clock, options: func(o *messaging.Options) { o.Trace = here.Begin }})
		second.until(t, "it is taken", func() bool { return len(second.sink.all(t)) == 2 })
		sent := here.Named("messaging.send")
		require.Len(t, sent, 2)
		for i, outcome := range []string{"retried", "sent"} {
			require.Equal(t, queued[0].Own, sent[i].Parent)
			require.Equal(t, outcome, sent[i].Attrs["outcome"])
			require.Equal(t, m.ID, sent[i].Attrs["message"], "not the network's id, which may hold a number")
			require.Equal(t, fmt.Sprint(i+1), sent[i].Attrs["attempt"])
			require.Equal(t, i == 0, sent[i].Failed)
		}
		second.sink.mu.Lock()
		defer second.sink.mu.Unlock()
		for _, e := range second.sink.events {
			require.Equal(t, sent[1].Own, e.Traceparent)
		}
	})
}

// TestSpansOfPanics: an attempt that a provider breaks off has ended, too.
func TestSpansOfPanics(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var spans testkit.Spans
		f := setup(t, db, config{options: func(o *messaging.Options) { o.Trace = spans.Begin }})
		ref := f.openChat(t, testKind)
		f.net.script(func(context.Context, provider.Outbound, int) (provider.Receipt, error) { panic("oh") })
		req := say(ref, "hi")
		req.Wait = 0
		f.send(t, req)
		spans.Await(t, "messaging.send", 1)
		require.True(t, spans.Named("messaging.send")[0].Failed)
	})
}

// TestSpansOfFiles: a file is fetched below what brought it, and so are the
// events that wait for it.
func TestSpansOfFiles(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var spans testkit.Spans
		f := setupMedia(t, db, nil, false, func(o *messaging.Options) { o.Trace = spans.Begin })
		ref := f.reference(t, filesKind)
		body, gate := picture(t, 30, 20), make(chan struct{})
		f.depot.put("file", body, gate)
		f.receive(t, ref, photo("image", "file", body))
		f.receive(t, ref, text("after", "111", "two"))
		close(gate)
		f.until(t, "both go out", func() bool { return len(f.events(t)) == 2 })
		received := spans.Named("messaging.receive")
		require.Len(t, received, 2)
		for i, e := range f.sink.all(t) {
			require.Equal(t, received[i].Own, e.Traceparent)
		}
		spans.Await(t, "messaging.fetch", 1)
		require.Equal(t, received[0].Own, spans.Named("messaging.fetch")[0].Parent)
	})
}
