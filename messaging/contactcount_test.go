package messaging_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/internal/contactcount"
	"github.com/trunklinehq/trunkline/provider"
)

// contactCounter returns a counter for which a minute passes at each call.
func contactCounter(t *testing.T, db *sqlx.DB) *contactcount.Counter {
	t.Helper()
	handle, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	now := epoch
	return &contactcount.Counter{DB: handle, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time {
		now = now.Add(time.Minute)
		return now
	}}
}

// contactsAreTrue compares the number of contacts of the account with its chats.
func (f *fixture) contactsAreTrue(t *testing.T) int {
	t.Helper()
	handle, err := database.Of(t.Context(), f.db)
	require.NoError(t, err)
	got, err := f.svc.Contacts(t.Context(), handle, messaging.OneAccount, time.Time{})
	require.NoError(t, err)
	want := count(t, f.db, `SELECT count(*) FROM messaging_chat AS c JOIN messaging_reference AS r ON r.id = c.reference WHERE r.account = 'one' AND NOT c.is_group`)
	require.EqualValues(t, want, got)
	return want
}

// TestContactCount makes, merges, deletes and counts chats in a random order.
func TestContactCount(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, rnd, nodes := setup(t, db, config{}), rand.New(rand.NewPCG(3, 1)), []*contactcount.Counter{contactCounter(t, db), contactCounter(t, db)}
		refs := []provider.ReferenceID{f.reference(t, testKind), f.reference(t, testKind)}
		for i := range 120 {
			ref := refs[rnd.IntN(2)]
			switch n := rnd.IntN(10); {
			case n < 3:
				f.receive(t, ref, text(fmt.Sprint("m", i), "", "hello", from(fmt.Sprint(100+rnd.IntN(30)), "")))
			case n == 3:
				f.receive(t, ref, text(fmt.Sprint("m", i), "", "hello", from("", fmt.Sprint("u.", rnd.IntN(30)))))
			case n == 4: // one chat with the phone and one with the user become one
				who := rnd.IntN(30)
				f.receive(t, ref, text(fmt.Sprint("m", i), "", "hello", from(fmt.Sprint(100+who), fmt.Sprint("u.", who))))
			case n == 5:
				f.receive(t, ref, inGroup(fmt.Sprint("m", i), provider.Address{ChatID: "5"}, "Five", "hello"))
			case n == 6:
				db.MustExec(`DELETE FROM messaging_chat WHERE id IN (SELECT MIN(id) FROM messaging_chat WHERE id > $1)`, rnd.IntN(20))
			default:
				require.NoError(t, nodes[rnd.IntN(2)].Count(t.Context()))
			}
			f.contactsAreTrue(t)
		}
		for range 2 {
			require.NoError(t, nodes[0].Count(t.Context()))
		}
		require.Positive(t, f.contactsAreTrue(t))
		require.Equal(t, count(t, db, `SELECT count(*) FROM messaging_chat WHERE NOT is_group`), count(t, db, `SELECT SUM(n) FROM messaging_contact_count`), "all are counted")
		require.NoError(t, f.acc.References().Delete(t.Context(), refs[0]))
		f.contactsAreTrue(t)
		testkit.UntilCommitted(t, db, func() bool { return count(t, db, `SELECT count(*) FROM messaging_contact_count`) == 1 })
		f.contactsAreTrue(t)
		db.MustExec(`DELETE FROM messaging_chat`)
		require.Zero(t, f.contactsAreTrue(t))
	})
}

// TestContactCount_Deleted deletes chats, each in its transaction, while two nodes count
// them and the account is shown.
func TestContactCount_Deleted(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		const chats = 200
		refs := []provider.ReferenceID{f.reference(t, testKind), f.reference(t, testKind)}
		for i := range chats {
			f.receive(t, refs[i%2], text(fmt.Sprint("m", i), "", "hello", from(fmt.Sprint(100+i), "")))
		}
		var ids []int64
		require.NoError(t, db.SelectContext(t.Context(), &ids, `SELECT id FROM messaging_chat ORDER BY id`))
		g, ctx := errgroup.WithContext(t.Context())
		for i := range 2 {
			node := contactCounter(t, db)
			require.NoError(t, node.Count(t.Context())) // no deletion is a minute old
			g.Go(func() error {
				for range 20 {
					if err := node.Count(ctx); err != nil {
						return err
					}
				}
				return nil
			})
			g.Go(func() error {
				for j := i; j < chats-10; j += 2 {
					if _, err := db.ExecContext(ctx, `DELETE FROM messaging_chat WHERE id = $1`, ids[j]); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
		node := contactCounter(t, db)
		for range 2 {
			require.NoError(t, node.Count(t.Context()))
		}
		require.Equal(t, 10, f.contactsAreTrue(t))
		require.Equal(t, 10, count(t, db, `SELECT SUM(n) FROM messaging_contact_count`))
	})
}
