package messaging_test

import (
	"encoding/base64"
	"iter"
	"strconv"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// beginning is the position before everything.
var beginning = base64.RawURLEncoding.EncodeToString([]byte("0.0." + strconv.FormatInt(epoch.UnixMicro(), 36)))

// entries yields what a feed brings, without end.
func entries(t testing.TB, feed *messaging.ChangeStream) iter.Seq[messaging.StreamEntry] {
	return func(yield func(messaging.StreamEntry) bool) {
		for {
			es, err := feed.Next(t.Context(), timeout)
			require.NoError(t, err)
			require.NotEmpty(t, es, "the stream ended early")
			for _, e := range es {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// take reads the next n entries.
func take(t testing.TB, feed *messaging.ChangeStream, n int) []messaging.StreamEntry {
	t.Helper()
	var out []messaging.StreamEntry
	for e := range entries(t, feed) {
		if out = append(out, e); len(out) == n {
			break
		}
	}
	return out
}

// takeKind is take of entries of one kind. On PostgreSQL a stream may begin with
// what was committed shortly before it: other transactions held it back.
func takeKind(t testing.TB, feed *messaging.ChangeStream, kind string, n int) []messaging.StreamEntry {
	t.Helper()
	var out []messaging.StreamEntry
	for e := range entries(t, feed) {
		if e.Kind != kind {
			continue
		}
		if out = append(out, e); len(out) == n {
			break
		}
	}
	return out
}

func follow(t testing.TB, f *fixture, ref provider.ReferenceID, after string) *messaging.ChangeStream {
	t.Helper()
	feed, err := f.acc.Changes(t.Context(), ref, after)
	require.NoError(t, err)
	return feed
}

func ids(t testing.TB, es []messaging.StreamEntry) []string {
	t.Helper()
	out := []string{}
	for _, e := range es {
		id, err := strconv.Unquote(member(t, e.Data, "id"))
		require.NoError(t, err)
		out = append(out, e.Kind+" "+id)
	}
	return out
}

func TestFollow(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		one, two := f.reference(t, testKind), f.reference(t, testKind)
		f.receive(t, one, text("m1", "111", "hello"))
		f.receive(t, two, text("m2", "111", "hello"))
		f.receive(t, one, status("m1", provider.StatusRead), text("m3", "111", "hello"))

		all := take(t, follow(t, f, 0, beginning), 4)
		require.Equal(t, []string{"message m1", "message m2", "status m1", "message m3"}, ids(t, all))
		require.Equal(t, one, all[0].Reference)
		require.Equal(t, []string{"message m1", "status m1", "message m3"}, ids(t, take(t, follow(t, f, one, beginning), 3)))

		feed := follow(t, f, 0, all[1].ID) // after the second
		require.Equal(t, []string{"status m1", "message m3"}, ids(t, take(t, feed, 2)))
		require.Equal(t, all[3].ID, feed.Position())

		// Those who wait are woken by what is committed.
		var g errgroup.Group
		g.Go(func() error {
			return f.svc.Receive(t.Context(), two, []provider.Event{text("m4", "111", "hello")})
		})
		require.Equal(t, []string{"message m4"}, ids(t, take(t, feed, 1)))
		require.NoError(t, g.Wait())

		es, err := feed.Next(t.Context(), 1)
		require.NoError(t, err)
		require.Empty(t, es)

		other := f.svc.For("somebody else")
		_, err = other.Changes(t.Context(), one, "")
		require.ErrorIs(t, err, messaging.ErrNotFound)
		feed, err = other.Changes(t.Context(), 0, beginning)
		require.NoError(t, err)
		es, err = feed.Next(t.Context(), 1)
		require.NoError(t, err)
		require.Empty(t, es, "another account's stream")
	})
}

func TestFollowFromNow(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hello"))
		take(t, follow(t, f, 0, beginning), 1) // it is out
		feed := follow(t, f, 0, "")
		f.receive(t, ref, text("m2", "111", "hello"))
		require.Equal(t, []string{"message m2"}, ids(t, take(t, feed, 1)))
	})
}

func TestFollowTooLate(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "hello"))
		at := take(t, follow(t, f, 0, beginning), 1)[0].ID
		f.clock.Advance(26 * time.Hour)
		f.receive(t, ref, text("m2", "111", "hello"))
		require.NoError(t, f.svc.Prune(t.Context()))
		_, err := f.acc.Changes(t.Context(), 0, at)
		require.ErrorIs(t, err, messaging.ErrResync)
		_, err = f.acc.Changes(t.Context(), 0, beginning)
		require.ErrorIs(t, err, messaging.ErrResync)
		require.Equal(t, 1, count(t, db, `SELECT count(*) FROM messaging_change`))

		for _, bad := range []string{"x", "MA", "MC4w", "!"} {
			_, err = f.acc.Changes(t.Context(), 0, bad)
			requireInvalid(t, err, "after")
		}
	})
}

// TestFollowAfterRestore refuses a position of the database that a backup was
// taken of: it may be ahead of all that this one will ever have.
func TestFollowAfterRestore(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		elsewhere := base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(1<<60, 36) + ".1." + strconv.FormatInt(epoch.UnixMicro(), 36)))
		_, err := f.acc.Changes(t.Context(), 0, elsewhere)
		require.ErrorIs(t, err, messaging.ErrResync)
	})
}

// TestFollow_OtherDatabase follows a stream while a transaction of another database on the
// same server, which never ends, is open, and one is prepared.
func TestFollow_OtherDatabase(t *testing.T) {
	t.Parallel()
	server := testkit.PostgresServer(t, testkit.PostgresOptions{Settings: func(string) []string { return []string{"max_prepared_transactions=2"} }})
	long, err := testkit.Open(t, server.Database(t)).BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	_, err = long.ExecContext(t.Context(), `SELECT pg_current_xact_id()`)
	require.NoError(t, err)
	prepared, err := testkit.Open(t, server.Database(t)).Connx(t.Context())
	require.NoError(t, err)
	for _, text := range []string{`BEGIN`, `CREATE TABLE t ()`, `PREPARE TRANSACTION 'p'`} {
		_, err := prepared.ExecContext(t.Context(), text)
		require.NoError(t, err)
	}

	f := setup(t, testkit.Open(t, server.Database(t)), config{idle: true})
	ref := f.reference(t, testKind)
	feed := follow(t, f, 0, beginning)
	f.receive(t, ref, text("m1", "111", "hello"))
	f.clock.Advance(2 * time.Second)
	require.Equal(t, []string{"message m1"}, ids(t, take(t, feed, 1)))
	f.receive(t, ref, text("m2", "111", "hello"))
	f.clock.Advance(2 * time.Second)
	now := follow(t, f, 0, "")
	f.receive(t, ref, text("m3", "111", "hello"))
	f.clock.Advance(2 * time.Second)
	require.Equal(t, []string{"message m3"}, ids(t, take(t, now, 1)))
	require.Equal(t, []string{"message m2", "message m3"}, ids(t, take(t, feed, 2)))

	own, err := f.db.BeginTxx(t.Context(), nil) // it may still write before what follows
	require.NoError(t, err)
	_, err = own.ExecContext(t.Context(), `SELECT pg_current_xact_id()`)
	require.NoError(t, err)
	f.receive(t, ref, text("m4", "111", "hello"))
	f.clock.Advance(2 * time.Second)
	es, err := feed.Next(t.Context(), 20*time.Millisecond)
	require.NoError(t, err)
	require.Empty(t, es)
	require.NoError(t, own.Rollback())
	require.Equal(t, []string{"message m4"}, ids(t, take(t, feed, 1)))
	require.NoError(t, long.Rollback())
	_, err = prepared.ExecContext(t.Context(), `ROLLBACK PREPARED 'p'`)
	require.NoError(t, err)
}

// TestFollowSkipsNothing writes from two nodes, with a transaction in between
// that began first and commits last.
func TestFollowSkipsNothing(t *testing.T) {
	t.Parallel()
	url := testkit.PostgresURL(t)
	a := setup(t, testkit.Open(t, url), config{idle: true})
	b := setup(t, testkit.Open(t, url), config{idle: true})
	ref := a.reference(t, testKind)
	feed := follow(t, a, 0, beginning)

	slow, err := a.db.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, a.svc.PublishTx(t.Context(), slow, messaging.Change{
		Account: messaging.OneAccount, Reference: ref, Kind: "run", Data: map[string]string{"id": "slow"},
	}))
	b.receive(t, ref, text("m1", "111", "hello"))
	es, err := feed.Next(t.Context(), 20*time.Millisecond)
	require.NoError(t, err)
	require.Empty(t, es, "an older transaction may still come before it")
	require.NoError(t, slow.Commit())
	require.Equal(t, []string{"run slow", "message m1"}, ids(t, take(t, feed, 2)))

	const writers, each = 4, 25
	var g errgroup.Group
	for w := range writers {
		svc := []*fixture{a, b}[w%2].svc
		g.Go(func() error {
			for i := range each {
				chat := strconv.Itoa(100 + (w+i)%3)
				if err := svc.Receive(t.Context(), ref, []provider.Event{text("w"+strconv.Itoa(w)+"."+strconv.Itoa(i), chat, "x")}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	seen, last := map[string]bool{}, [writers]int{-1, -1, -1, -1}
	for _, id := range ids(t, take(t, feed, writers*each)) {
		require.False(t, seen[id], "twice")
		seen[id] = true
		w, i := int(id[len("message w")]-'0'), 0
		i, err = strconv.Atoi(id[len("message w0."):])
		require.NoError(t, err)
		require.Equal(t, last[w]+1, i, "in the order of the commits")
		last[w] = i
	}
	require.NoError(t, g.Wait())
}
