package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// batchHost is a chat service that notes which chats share a transaction.
type batchHost struct {
	batches [][]string // the chats of each transaction that was begun
	flushed int
	fails   func(chats []string) bool // whether the database fails for a transaction; nil: for none
}

// errDatabase is an error as that of SQLite.
type errDatabase struct{}

func (errDatabase) Error() string { return "the database fails" }
func (errDatabase) Code() int     { return 1 }

func (*batchHost) Snapshot(context.Context, Chat) (Snapshot, error) { return Snapshot{}, nil }

func (h *batchHost) BatchTx(_ context.Context, _ Tx, chats []Chat) (ChatService, func(context.Context) error, error) {
	var ids []string
	for _, c := range chats {
		ids = append(ids, c.ID)
	}
	h.batches = append(h.batches, ids)
	return sender{h}, func(context.Context) error {
		if h.fails != nil && h.fails(ids) {
			return errDatabase{}
		}
		h.flushed++
		return nil
	}, nil
}

type sender struct{ *batchHost }

func (sender) SendTx(_ context.Context, _ Tx, r Run, s flow.Send) (string, error) {
	switch string(s.Message) {
	case `"refused"`:
		return "", &flow.Error{Code: "refused", Message: "The network refuses it."}
	case `"panics"`:
		panic("at the network")
	}
	return "sent in " + r.Chat.ID, nil
}

// batched are the turns of a test that share a transaction.
type batched struct {
	h     *turnHandler
	works []*work
}

// add adds a turn with which a run in a chat begins, and which sends a text.
func (b *batched) add(t *testing.T, source Source, chat, says string) *work {
	t.Helper()
	c := Chat{Account: "acme", Reference: 1, Key: "1:" + chat, ID: chat}
	require.NoError(t, b.h.db.InTx(t.Context(), func(tx *database.Tx) error {
		_, err := b.h.inbox.enqueueTx(t.Context(), tx, job{inbox: c.Key, reference: 1, account: c.Account, chatID: chat, message: &Incoming{Chat: c}})
		return err
	}))
	in, err := b.h.inbox.next(t.Context(), c.Key)
	require.NoError(t, err)
	l, err := b.h.programs.compile(source)
	require.NoError(t, err)
	row, err := b.h.runs.newRun(Start{Engine: "test", Owner: "flow", Source: source, Chat: c}, l)
	require.NoError(t, err)
	out := &flow.Turn{
		State:   &flow.State{Ended: &flow.Ending{Status: flow.StatusCompleted}},
		Effects: []flow.Effect{flow.Send{ID: "1", Message: json.RawMessage(`"` + says + `"`)}},
		Trace:   []flow.TraceRow{{}, {}},
	}
	w := &work{ctx: t.Context(), h: b.h, t: &turn{row: *row, loaded: l, in: in, out: out, fresh: true}}
	w.after, err = w.t.after(b.h.opts.Now())
	require.NoError(t, err)
	b.works = append(b.works, w)
	return w
}

// commit commits all turns together, and returns the error of each.
func (b *batched) commit(t *testing.T) []error {
	t.Helper()
	works := b.works
	b.works = nil
	return b.h.commitAll(t.Context(), works)
}

func newBatched(t *testing.T, db *sqlx.DB) (*batched, *batchHost, Source) {
	t.Helper()
	host := &batchHost{}
	r, err := New(t.Context(), db, host, nil)
	require.NoError(t, err)
	h := &turnHandler{
		db: r.db, chats: host, inbox: r.inbox, runs: r.runs, programs: &r.programs, timers: r.timers, waits: &r.waits, calls: r.calls, opts: &r.opts,
	}
	d, problems := flow.Decode([]byte(`{"format":"trunkline-flow/1","kind":"flow","slug":"test","name":"Test","start":"trigger","variables":{},
		"nodes":{"trigger":{"type":"trigger","config":{"on":[{"kind":"any_message"}]}}}}`))
	require.NotNil(t, d, "%v", problems)
	return &batched{h: h}, host, Source{Document: d}
}

// TestBatch stores turns of several chats in one transaction, and one whose turn cannot
// be stored without the others.
func TestBatch(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seen, asked := testkit.Counting(t, db)
		testkit.CheckLocks(t, seen)
		b, host, source := newBatched(t, seen)
		count := func(table string) (n int) {
			require.NoError(t, db.GetContext(t.Context(), &n, `SELECT COUNT(*) FROM `+table))
			return n
		}
		statements := func() int { // for the turns that were added
			before, n := asked.Of("flow_"), len(b.works)
			require.Equal(t, make([]error, n), b.commit(t))
			return asked.Of("flow_") - before
		}
		b.add(t, source, "a", "Hello")
		one := statements()
		for _, chat := range []string{"d", "c", "b", "e"} {
			b.add(t, source, chat, "Hello")
		}
		require.Equal(t, one, statements(), "for four turns")
		require.Equal(t, [][]string{{"a"}, {"b", "c", "d", "e"}}, host.batches, "locked in order")
		require.Equal(t, 2, host.flushed)
		require.Equal(t, 5, count("flow_run"))
		require.Equal(t, 5, count("flow_sent"))
		require.Equal(t, 10, count("flow_step"))
		require.Zero(t, count("flow_input"))

		host.batches = nil
		b.add(t, source, "f", "Hello")
		b.add(t, source, "g", "refused")
		b.add(t, source, "h", "panics")
		taken := b.add(t, source, "i", "Hello")
		b.add(t, source, "j", "Hello")
		again := *b.add(t, source, "k", "Hello")
		b.works = append(b.works, &again) // a node that lost the chat works on the same input
		_, err := seen.ExecContext(t.Context(), `DELETE FROM flow_input WHERE id = $1`, taken.t.in.ID)
		require.NoError(t, err)
		errs := b.commit(t)
		require.NoError(t, errs[0])
		var no *refusal
		require.ErrorAs(t, errs[1], &no)
		require.Equal(t, "refused", no.err.Code)
		require.ErrorContains(t, errs[2], "at the network")
		require.ErrorIs(t, errs[3], errTaken)
		require.NoError(t, errs[4])
		require.NoError(t, errs[5])
		require.ErrorIs(t, errs[6], errTaken)
		require.Equal(t, 8, count("flow_run"), "those of f, j and k were stored, once")
		require.Equal(t, 2, count("flow_input"), "those of g and h wait")
		require.Equal(t, []string{"f", "g", "h", "i", "j", "k"}, host.batches[0])
	})
}

// TestBatch_Continues stores turns of runs that have begun: of two that follow the same
// one, the first.
func TestBatch_Continues(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		b, _, source := newBatched(t, db)
		var runs []*work
		for i := range 3 {
			w := b.add(t, source, fmt.Sprint(i), "Hello")
			w.t.out.State = &flow.State{}
			var err error
			w.after, err = w.t.after(b.h.opts.Now())
			require.NoError(t, err)
			runs = append(runs, w)
		}
		require.Equal(t, make([]error, 3), b.commit(t))
		next := func(w *work) {
			out := &flow.Turn{State: &flow.State{Ended: &flow.Ending{Status: flow.StatusCompleted}}}
			n := &work{ctx: t.Context(), h: b.h, t: &turn{row: *w.row, loaded: w.t.loaded, out: out}}
			var err error
			n.after, err = n.t.after(b.h.opts.Now())
			require.NoError(t, err)
			b.works = append(b.works, n)
		}
		next(runs[0])
		require.Equal(t, []error{nil}, b.commit(t))
		for _, w := range runs {
			next(w)
		}
		errs := b.commit(t)
		require.ErrorIs(t, errs[0], errTaken)
		require.NoError(t, errs[1])
		require.NoError(t, errs[2])
		var turns []int64
		require.NoError(t, db.SelectContext(t.Context(), &turns, `SELECT turn FROM flow_run WHERE ended_us > 0 ORDER BY seq`))
		require.Equal(t, []int64{2, 2, 2}, turns)
	})
}

// TestBatch_Drops forgets inputs of several chats in one transaction. One that another
// node has taken is left out.
func TestBatch_Drops(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		b, _, source := newBatched(t, db)
		var ins []*inputRow
		for i := range 4 {
			in := b.add(t, source, fmt.Sprint(i), "Hello").t.in
			in.route(Incoming{Chat: Chat{Account: "acme", Reference: 1, ID: in.ChatID}, Message: map[string]any{"id": fmt.Sprint("m", i)}})
			in.routeTo(RouteNobody, "", nil)
			ins = append(ins, in)
		}
		_, err := db.ExecContext(t.Context(), `DELETE FROM flow_input WHERE id = $1`, ins[2].ID)
		require.NoError(t, err)
		again := *ins[0] // of a node that lost the chat
		require.Equal(t, []error{nil, nil, errTaken, nil, errTaken}, b.h.dropAll(t.Context(), append(ins, &again)))
		var routed []string
		require.NoError(t, db.SelectContext(t.Context(), &routed, `SELECT message FROM flow_route ORDER BY id`))
		require.Equal(t, []string{"m0", "m1", "m3"}, routed)
	})
}

// TestBatch_DatabaseFails has the database fail because of one turn, which does not keep
// the others from being stored, and then for all, which are not all tried alone.
func TestBatch_DatabaseFails(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		b, host, source := newBatched(t, db)
		all := []string{"a", "b", "c", "d", "e", "f"}
		add := func() {
			for _, chat := range all {
				b.add(t, source, chat, "Hello")
			}
		}
		add()
		host.fails = func(chats []string) bool { return slices.Contains(chats, "c") }
		fails := errDatabase{}
		require.Equal(t, []error{nil, nil, fails, nil, nil, nil}, b.commit(t))
		require.Len(t, host.batches, 1+len(all))

		host.batches = nil
		all = []string{"g", "h", "i", "j", "k"}
		add()
		host.fails = func([]string) bool { return true }
		require.Equal(t, []error{fails, fails, fails, fails, fails}, b.commit(t))
		require.Len(t, host.batches, 1+maxDatabaseFailures)
		host.fails = nil
		add()
		require.Equal(t, make([]error, 5), b.commit(t))
	})
}
