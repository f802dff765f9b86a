package auth_test

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/auth"
)

// TestPublicLimitWritesNothing refuses what is over the limit of an address by a
// single look.
func TestPublicLimitWritesNothing(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, auth.Migrate(t.Context(), db))
		seen, n := testkit.Counting(t, db)
		f := setup(t, seen, auth.Options{}, secret)
		take := func() (over bool, statements, transactions int64) {
			statements, transactions = n.Statements.Load(), n.Transactions.Load()
			q, err := f.TakePublic(t.Context(), home)
			require.NoError(t, err)
			return q.Over, n.Statements.Load() - statements, n.Transactions.Load() - transactions
		}
		for range 60 {
			over, _, transactions := take()
			require.Equal(t, []any{false, int64(1)}, []any{over, transactions})
		}
		for range 3 {
			over, statements, transactions := take()
			require.Equal(t, []any{true, int64(1), int64(0)}, []any{over, statements, transactions})
		}
		require.Equal(t, 60, n.Of("INSERT INTO auth_limit"))
		f.clock.move(time.Minute)
		over, _, transactions := take()
		require.Equal(t, []any{false, int64(1)}, []any{over, transactions}, "a minute later")
	})
}

// TestStatementsOfARequest asks the database once for each request, and writes
// at most once a minute and session that it was used.
func TestStatementsOfARequest(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, auth.Migrate(t.Context(), db))
		seen, n := testkit.Counting(t, db)
		f := setup(t, seen, auth.Options{}, secret)
		s := signUp(t, f, "ana@example.org")
		_, program, err := f.Tokens().Create(t.Context(), caller(t, f, s.Token), newToken(f, auth.ChatsRead))
		require.NoError(t, err)
		cookie := browse(t, f, "ana@example.org")
		byToken := func(token string) func() (auth.Caller, error) {
			return func() (auth.Caller, error) { return f.Authenticate(t.Context(), token) }
		}
		for name, authenticate := range map[string]func() (auth.Caller, error){
			"token": byToken(s.Token), "scoped": byToken(program),
			"cookie": func() (auth.Caller, error) { return f.AuthenticateCookie(t.Context(), cookie) },
		} {
			request := func() (statements, transactions int64) {
				statements, transactions = n.Statements.Load(), n.Transactions.Load()
				c, err := authenticate()
				require.NoError(t, err)
				f.Sessions().Seen(t.Context(), c, auth.Client{Address: home})
				return n.Statements.Load() - statements, n.Transactions.Load() - transactions
			}
			f.clock.move(2 * time.Minute)
			statements, transactions := request()
			require.Equal(t, []int64{2, 1}, []int64{statements, transactions}, "%s, for the first time", name)
			for range 3 {
				statements, transactions = request()
				require.Equal(t, []int64{1, 0}, []int64{statements, transactions}, name)
			}
			f.clock.move(time.Minute)
			_, transactions = request()
			require.Equal(t, int64(1), transactions, "%s, a minute later", name)
		}
	})
}
