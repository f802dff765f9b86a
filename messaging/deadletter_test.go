package messaging_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// olderCloud is a version of the provider that cannot read a type of messages, until
// it is upgraded.
type olderCloud struct {
	*cloud.Provider
	version atomic.Int32
}

// unreadableType is the type of messages that an [olderCloud] cannot read.
const unreadableType = "button"

func (p *olderCloud) Parse(part provider.Part) (events []provider.Event, bads []provider.Bad) {
	if p.version.Load() > 1 {
		return p.Provider.Parse(part)
	}
	for item := range jsonscan.Elements(jsonscan.Get(jsonscan.Get(part.Body, "value"), "messages")) {
		if string(jsonscan.Get(item, "type")) == `"`+unreadableType+`"` {
			bads = append(bads, provider.Bad{Reason: fmt.Sprintf("unreadable in version %d", p.version.Load()), Body: item})
		}
	}
	read, more := p.Provider.Parse(part)
	for _, e := range read {
		if m, ok := e.(*provider.Message); !ok || m.ID[0] != 'b' {
			events = append(events, e)
		}
	}
	return events, append(bads, more...)
}

// deadSetup is a service with a reference of the owner on an [olderCloud].
func deadSetup(t *testing.T, db *sqlx.DB) (*fixture, *olderCloud, provider.ReferenceID) {
	t.Helper()
	graph := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{
		{PhoneNumberID: "1001", BusinessAccountID: "2001", AccessToken: ownerToken, AppSecret: ownerSecret},
	}})
	t.Cleanup(graph.Close)
	older := &olderCloud{Provider: cloud.New(&cloud.Options{GraphURL: graph.URL})}
	f := setup(t, db, config{idle: true, options: func(o *messaging.Options) { o.Providers = append(o.Providers, older) }})
	return f, older, f.cloudReference(t, "owner", nil)
}

// button is a message that an [olderCloud] cannot read.
func button(id, words string) string {
	return fmt.Sprintf(`{"from":"16505551234","id":%q,"timestamp":"1772366399","type":%q,"button":{"text":%q,"payload":"p"}}`, id, unreadableType, words)
}

// letters lists the dead letters of the owner's reference.
func (f *fixture) letters(t *testing.T, ref provider.ReferenceID) []messaging.DeadLetter {
	t.Helper()
	p, err := f.svc.For("owner").DeadLetters().List(t.Context(), ref, messaging.List{})
	require.NoError(t, err)
	require.Empty(t, p.Next)
	return p.Items
}

func TestDeadLetters_ListNewestFirst(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, _, ref := deadSetup(t, db)
		acc := f.svc.For("owner").DeadLetters()
		require.Empty(t, f.letters(t, ref))
		for i := range 3 {
			require.NoError(t, f.post(t, ownerSecret, callback(change("1001", button(fmt.Sprint("b", i), "Yes"), item(fmt.Sprint("g", i), "good")))))
		}
		all := f.letters(t, ref)
		require.Len(t, all, 3)
		var paged []messaging.DeadLetter
		for l := (messaging.List{Limit: 2}); ; {
			p, err := acc.List(t.Context(), ref, l)
			require.NoError(t, err)
			paged = append(paged, p.Items...)
			if l.Cursor = p.Next; l.Cursor == "" {
				break
			}
		}
		require.Equal(t, all, paged)
		body := button("b2", "Yes")
		require.Equal(t, messaging.DeadLetter{
			ID: all[0].ID, Reason: "unreadable in version 0", Size: len(body), Replayable: true, ReceivedAt: epoch,
		}, withUTC(all[0]))
		one, err := acc.Get(t.Context(), ref, all[0].ID)
		require.NoError(t, err)
		require.Equal(t, body, one.Body)

		_, err = acc.List(t.Context(), ref, messaging.List{Cursor: "!"})
		require.EqualError(t, err, "cursor is not a cursor of this list")
		require.NoError(t, acc.Delete(t.Context(), ref, all[1].ID))
		require.ErrorIs(t, acc.Delete(t.Context(), ref, all[1].ID), messaging.ErrNoDeadLetter)
		require.Len(t, f.letters(t, ref), 2)
	})
}

func withUTC(d messaging.DeadLetter) messaging.DeadLetter {
	d.ReceivedAt = d.ReceivedAt.UTC()
	return d
}

// TestDeadLetters_BelongToTheirAccount tries every method with the id of another
// account's reference, and of another reference of the same account.
func TestDeadLetters_BelongToTheirAccount(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, older, ref := deadSetup(t, db)
		other, err := f.svc.For("owner").References().Create(t.Context(), messaging.NewReference{Name: "Other", Type: testKind})
		require.NoError(t, err)
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", button("b1", "Yes")))))
		older.version.Store(2)
		id := f.letters(t, ref)[0].ID
		for account, refused := range map[string]struct {
			ref provider.ReferenceID
			err error
		}{"stranger": {ref, messaging.ErrNotFound}, "owner": {other.ID, messaging.ErrNoDeadLetter}} {
			acc := f.svc.For(account).DeadLetters()
			_, err := acc.Get(t.Context(), refused.ref, id)
			require.ErrorIs(t, err, refused.err)
			_, err = acc.Replay(t.Context(), refused.ref, id)
			require.ErrorIs(t, err, refused.err)
			require.ErrorIs(t, acc.Delete(t.Context(), refused.ref, id), refused.err)
			if account == "stranger" {
				_, err = acc.List(t.Context(), ref, messaging.List{})
				require.ErrorIs(t, err, refused.err)
				_, err = acc.ReplayAll(t.Context(), ref, messaging.List{})
				require.ErrorIs(t, err, refused.err)
			}
		}
		require.Len(t, f.letters(t, ref), 1)
		require.Empty(t, f.received(t, ref))
	})
}

// TestDeadLetters_ReplayStoresOnce replays after an upgrade, from several callers at
// once.
func TestDeadLetters_ReplayStoresOnce(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, older, ref := deadSetup(t, db)
		acc := f.svc.For("owner").DeadLetters()
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", item("g1", "good"), button("b1", "Yes"), button("b2", "No")))))
		require.Equal(t, []string{"g1"}, f.received(t, ref))
		id := f.letters(t, ref)[1].ID
		older.version.Store(2)
		var replayed, late atomic.Int32
		g, ctx := errgroup.WithContext(t.Context())
		for range 4 {
			g.Go(func() error {
				reason, err := acc.Replay(ctx, ref, id)
				switch {
				case err == nil && reason == "":
					replayed.Add(1)
				case errors.Is(err, messaging.ErrNoDeadLetter):
					late.Add(1)
				default:
					return fmt.Errorf("%s: %w", reason, err)
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
		require.Equal(t, []int32{1, 3}, []int32{replayed.Load(), late.Load()})
		require.Equal(t, []string{"g1", "b1"}, f.received(t, ref))
		require.Equal(t, []string{"message:DELIVERED"}, f.sink.of(t, "b1"))
		m, err := f.svc.For("owner").Message(t.Context(), ref, "", "b1")
		require.NoError(t, err)
		require.Equal(t, "Yes", m.Text)
		require.Equal(t, "Ana", m.PushName, "what surrounds the item is kept")

		// The network sends again what was replayed, and what was not.
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", button("b1", "Yes"), button("b2", "No")))))
		require.Equal(t, []string{"g1", "b1", "b2"}, f.received(t, ref))
		reason, err := acc.Replay(t.Context(), ref, f.letters(t, ref)[0].ID)
		require.NoError(t, err)
		require.Empty(t, reason)
		require.Equal(t, []string{"g1", "b1", "b2"}, f.received(t, ref), "it is known")
		require.Empty(t, f.letters(t, ref))
	})
}

// TestDeadLetters_ReplayIsOneTransaction has each statement of a replay fail: until all
// of it succeeds, nothing of it is stored.
func TestDeadLetters_ReplayIsOneTransaction(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seen, asked := testkit.Counting(t, db)
		f, older, ref := deadSetup(t, seen)
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", button("b1", "Yes")))))
		id := f.letters(t, ref)[0].ID
		older.version.Store(1)
		asked.FailEach(t, func() error {
			require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_dead_letter WHERE replays > 0`))
			_, err := f.svc.For("owner").DeadLetters().Replay(t.Context(), ref, id)
			return err
		})
		older.version.Store(2)
		asked.FailEach(t, func() error {
			require.Equal(t, 1, count(t, db, `SELECT count(*) FROM messaging_dead_letter WHERE replays = 1`))
			require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_message`))
			_, err := f.svc.For("owner").DeadLetters().Replay(t.Context(), ref, id)
			return err
		})
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_dead_letter`))
		require.Equal(t, []string{"b1"}, f.received(t, ref))
	})
}

func TestDeadLetters_FailedReplayKeepsTheLetter(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, older, ref := deadSetup(t, db)
		acc := f.svc.For("owner").DeadLetters()
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", button("b1", "Yes")))))
		before := f.letters(t, ref)[0]
		for i := range 2 {
			older.version.Store(int32(i))
			f.clock.Advance(time.Hour)
			reason, err := acc.Replay(t.Context(), ref, before.ID)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("unreadable in version %d", i), reason)
			now := f.letters(t, ref)
			require.Len(t, now, 1)
			require.Equal(t, []any{before.ID, reason, i + 1, f.clock.Now()}, []any{now[0].ID, now[0].Reason, now[0].Replays, now[0].ReplayedAt.UTC()})
			require.Equal(t, before.ReceivedAt, now[0].ReceivedAt)
		}
		// The network sends it again: it is the same dead letter.
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", button("b1", "Yes")))))
		require.Equal(t, 2, f.letters(t, ref)[0].Replays)
	})
}

func TestDeadLetters_ReplayAll(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, older, ref := deadSetup(t, db)
		acc := f.svc.For("owner").DeadLetters()
		none, err := acc.ReplayAll(t.Context(), ref, messaging.List{})
		require.NoError(t, err)
		require.Zero(t, none)
		for i := range 3 {
			require.NoError(t, f.post(t, ownerSecret, callback(change("1001", button(fmt.Sprint("b", i), "Yes"), `{"type":"text"}`))))
		}
		require.Len(t, f.letters(t, ref), 4, "three buttons and a message without an id")
		older.version.Store(2)
		first, err := acc.ReplayAll(t.Context(), ref, messaging.List{Limit: 2})
		require.NoError(t, err)
		require.Equal(t, messaging.ReplayedDeadLetters{Replayed: 1, Failed: 1, Next: first.Next}, first)
		require.Equal(t, []string{"b0"}, f.received(t, ref), "the oldest first")
		rest, err := acc.ReplayAll(t.Context(), ref, messaging.List{Cursor: first.Next})
		require.NoError(t, err)
		require.Equal(t, messaging.ReplayedDeadLetters{Replayed: 2}, rest)
		require.Equal(t, []string{"b0", "b1", "b2"}, f.received(t, ref))
		left := f.letters(t, ref)
		require.Len(t, left, 1)
		require.Equal(t, "a message without an id", left[0].Reason)
		require.Equal(t, 1, left[0].Replays)
	})
}

// TestDeadLetters_WithoutSurroundings shows those that no callback brought, and those
// of older versions.
func TestDeadLetters_WithoutSurroundings(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, older, ref := deadSetup(t, db)
		acc := f.svc.For("owner").DeadLetters()
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", button("b1", "Yes")))))
		_, err := db.ExecContext(t.Context(), `UPDATE messaging_dead_letter SET part = ''`)
		require.NoError(t, err)
		f.receive(t, ref, text("", "111", "a message without an id"))
		older.version.Store(2)
		for _, letter := range f.letters(t, ref) {
			require.False(t, letter.Replayable)
			_, err := acc.Replay(t.Context(), ref, letter.ID)
			require.ErrorIs(t, err, messaging.ErrNotReplayable)
			var refused *messaging.Error
			require.ErrorAs(t, err, &refused)
		}
		all, err := acc.ReplayAll(t.Context(), ref, messaging.List{})
		require.NoError(t, err)
		require.Equal(t, messaging.ReplayedDeadLetters{Failed: 2}, all)
		require.Len(t, f.letters(t, ref), 2)
	})
}

// TestDeadLetters_OfEventsThatCannotBeStored keeps the callback of an event that was
// read but has an id that no table holds.
func TestDeadLetters_OfEventsThatCannotBeStored(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, older, ref := deadSetup(t, db)
		older.version.Store(2)
		long := fmt.Sprintf("w%0600d", 1)
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", item(long, "a long id")))))
		letter := f.letters(t, ref)[0]
		require.True(t, letter.Replayable)
		reason, err := f.svc.For("owner").DeadLetters().Replay(t.Context(), ref, letter.ID)
		require.NoError(t, err)
		require.Equal(t, letter.Reason, reason)
	})
}

// TestDeadLetters_OfOlderVersions upgrades tables with dead letters: each gets an id,
// which has the time of its letter.
func TestDeadLetters_OfOlderVersions(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		db = emptied(t, db)
		handle, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		handle.StopAt(map[string]int64{"messaging": 10})
		require.NoError(t, messaging.Migrate(t.Context(), db))
		_, err = db.ExecContext(t.Context(), `INSERT INTO messaging_reference (account, name, kind, settings, callback_url, line_key, group_key, verify_hash,
			revision, state, proved, remote_id, remote_name, remote_biz, connected_us, inbound_us, ack_us, probe_us,
			error_code, error_message, error_us, error_retry_us, created_us, updated_us)
			VALUES ('owner', 'Shop', 'sandbox', '{}', '', '', '', '', 0, 'CONNECTED', FALSE, '', '', '', 0, 0, 0, 0, '', '', 0, 0, 0, 0)`)
		require.NoError(t, err)
		for i := range 3 {
			_, err := db.ExecContext(t.Context(), `INSERT INTO messaging_dead_letter (reference, digest, reason, body, created_us)
				SELECT id, $1, 'unreadable', '{}', $2 FROM messaging_reference`, fmt.Sprint(i), epoch.UnixMicro())
			require.NoError(t, err)
		}
		handle.StopAt(nil)
		require.NoError(t, messaging.Migrate(t.Context(), db))
		var ids []string
		require.NoError(t, db.SelectContext(t.Context(), &ids, `SELECT DISTINCT letter_id FROM messaging_dead_letter`))
		require.Len(t, ids, 3)
		for _, id := range ids {
			u, err := uuid.Parse(id)
			require.NoError(t, err)
			require.Equal(t, uuid.Version(7), u.Version())
			require.Equal(t, uuid.RFC4122, u.Variant())
			sec, nano := u.Time().UnixTime()
			require.Equal(t, epoch, time.Unix(sec, nano).UTC())
			require.Equal(t, strings.ToLower(id), id)
		}
	})
}
