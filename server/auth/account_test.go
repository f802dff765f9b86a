package auth_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/auth"
)

// fill gives an account so many more users, and one of its users as many sessions,
// invitations that he has sent and addresses, all named filler.
func (f fixture) fill(t *testing.T, by auth.Caller, n int64) {
	t.Helper()
	const number = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $n) `
	for _, q := range []string{
		`INSERT INTO auth_user (id, account_id, email, name, password, permissions, version, created_us) ` + number +
			`SELECT 'filler' || i, $a, 'filler' || i, 'n', '', '', 1, 1 FROM n`,
		`INSERT INTO auth_session (id, user_id, kind, version, name, permissions, expires_us, created_us, used_us, address, agent) ` + number +
			`SELECT 'filler' || i, $u, 'scoped', 1, '', '', 1, 1, 0, '', '' FROM n`,
		`INSERT INTO auth_invitation (id, account_id, inviter, email, name, owner, permissions, expires_us, created_us) ` + number +
			`SELECT 'filler' || i, $a, $u, 'filler', '', 0, '', 1, 1 FROM n`,
		`INSERT INTO auth_origin (user_id, address, seen_us) ` + number + `SELECT $u, 'filler' || i, 1 FROM n`,
		`INSERT INTO auth_reset (hash, user_id, expires_us) ` + number + `SELECT 'filler' || i, $u, 1 FROM n`,
	} {
		f.db.MustExec(strings.NewReplacer("$n", fmt.Sprint(n), "$u", "'"+by.User+"'", "$a", "'"+by.Account+"'").Replace(q))
	}
}

// maxErased is the most rows of one transaction that erases users.
const maxErased = 200

// TestClosingIsBounded closes an account with ten times as much: the
// transactions become more, and none becomes larger.
func TestClosingIsBounded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		commits := testkit.ObserveCommits(t, f.db)
		for _, n := range []int64{30, 600} {
			s := signUp(t, f, fmt.Sprintf("ana%d@example.org", n))
			f.fill(t, caller(t, f, s.Token), n)
			commits.Take()
			require.NoError(t, f.Accounts().Close(t.Context(), s.User.AccountID, nil))
			commits.RequireBounded(t, 5*n, maxErased)
			require.Empty(t, testkit.Holding(t, f.db, "filler"))
			require.Empty(t, testkit.Holding(t, f.db, s.User.ID))
		}
	})
}

// TestClosingIsContinued closes an account and is interrupted after each commit:
// nobody gets in, and what is left goes later.
func TestClosingIsContinued(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		for at := 1; ; at++ {
			email := fmt.Sprintf("ana%d@example.org", at)
			s := signUp(t, f, email)
			f.fill(t, caller(t, f, s.Token), 30)
			left := at
			ctx, kill := context.WithCancel(t.Context())
			require.NoError(t, database.Observe(t.Context(), f.db, func(int64) {
				if left--; left == 0 {
					kill()
				}
			}))
			require.NoError(t, f.Accounts().Close(ctx, s.User.AccountID, func(context.Context, *database.Tx) error { return nil }))
			kill()
			require.NoError(t, database.Observe(t.Context(), f.db, nil))
			_, err := f.Authenticate(t.Context(), s.Token)
			require.ErrorIs(t, err, auth.ErrToken)
			_, err = login(t, f, email, password, home)
			require.ErrorIs(t, err, auth.ErrCredentials)
			require.NoError(t, f.Accounts().EraseUsers(t.Context(), s.User.AccountID))
			require.Empty(t, testkit.Holding(t, f.db, "filler"))
			require.Empty(t, testkit.Holding(t, f.db, email))
			f.clock.move(auth.TokenTTL) // log-ins from home are counted
			if left > 0 {
				require.Greater(t, at, 5, "it has more commits than that")
				return
			}
		}
	})
}

// TestOpenAccountsKeepTheirUsers erases nothing of an account that was not closed.
func TestOpenAccountsKeepTheirUsers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		s := signUp(t, f, "ana@example.org")
		require.NoError(t, f.Accounts().EraseUsers(t.Context(), s.User.AccountID))
		caller(t, f, s.Token)
	})
}
