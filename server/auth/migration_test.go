package auth_test

import (
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/auth"
)

// TestOwnersMigration brings accounts along that had no owners, with cookies
// and tokens that were in tables of their own.
func TestOwnersMigration(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		d.StopAt(map[string]int64{"auth": 2})
		require.NoError(t, auth.Migrate(t.Context(), db))
		started := time.Unix(1_900_000_000, 0)
		add := func(account, id, permissions string, disabled int) {
			db.MustExec(`INSERT INTO auth_account (id, created_us) VALUES ($1, 1) ON CONFLICT (id) DO NOTHING`, account)
			db.MustExec(`INSERT INTO auth_user (id, account_id, email, name, password, permissions, version, created_us, disabled_us)
				VALUES ($1, $2, $3, 'U', 'x', $4, 1, 1, $5)`, id, account, id+"@example.org", permissions, disabled)
		}
		add("one", "reader", "chats.read", 0)
		add("one", "gone", "users.manage", 5)
		add("one", "first", "users.manage references.read", 0)
		add("one", "second", "users.manage", 0)
		add("two", "away", "users.manage", 5)
		add("three", "nobody", "chats.read", 0)
		hash := "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9" // of "hello world"
		db.MustExec(`INSERT INTO auth_session (hash, user_id, version, used_us, created_us) VALUES ($1, 'reader', 1, $2, $2)`, hash, database.Micros(started))
		db.MustExec(`INSERT INTO auth_token (id, user_id, name, permissions, expires_us, created_us) VALUES ('program', 'reader', 'Shop', 'chats.read', $1, $2)`,
			database.Micros(started.Add(24*time.Hour)), database.Micros(started))
		d.StopAt(nil)

		f := setup(t, db, auth.Options{}, secret)
		var owners []string
		require.NoError(t, db.Select(&owners, `SELECT id FROM auth_user WHERE owner = 1 ORDER BY id`))
		require.Equal(t, []string{"away", "first"}, owners)
		u, err := f.Users().Get(t.Context(), "one", "first")
		require.NoError(t, err)
		require.Equal(t, auth.AllPermissions(), u.Permissions)

		keys, err := keyring.New("auth", []string{secret})
		require.NoError(t, err)
		token := func(id string, more jwt.MapClaims) string {
			c := jwt.MapClaims{"iss": "trunkline", "sub": "reader", "acc": "one", "ver": 1, "jti": id, "exp": started.Add(time.Hour).Unix()}
			for k, v := range more {
				c[k] = v
			}
			signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(keys.Keys("jwt")[0])
			require.NoError(t, err)
			return signed
		}
		require.Equal(t, []auth.Permission{auth.ChatsRead}, caller(t, f, token("program", jwt.MapClaims{"scp": []string{"chats.read"}})).Permissions)
		_, err = f.Authenticate(t.Context(), token("unrecorded", nil))
		require.ErrorIs(t, err, auth.ErrToken, "a log-in of before was not recorded")
		f.clock.move(auth.CookieIdle - time.Second)
		c, err := f.AuthenticateCookie(t.Context(), "hello world")
		require.NoError(t, err)
		require.Equal(t, "reader", c.User)
		f.clock.move(time.Second)
		_, err = f.AuthenticateCookie(t.Context(), "hello world")
		require.ErrorIs(t, err, auth.ErrToken)
	})
}
