package backup_test

import (
	"os"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/backup"
)

// restoreAccount restores an account from a backup.
func restoreAccount(t *testing.T, name, who string, db *sqlx.DB) (backup.Restored, error) {
	t.Helper()
	a, err := backup.Open(name)
	require.NoError(t, err)
	defer a.Close() //nolint:errcheck // it was only read
	opts := &backup.AccountOptions{Migrate: migrate, Media: folder(t), Folder: t.TempDir()}
	done, err := a.RestoreAccount(t.Context(), db, who, opts)
	left, readErr := os.ReadDir(opts.Folder)
	require.NoError(t, readErr)
	require.Empty(t, left)
	return done, err
}

// TestRestoreAccount takes an account from each kind of database to each.
func TestRestoreAccount(t *testing.T) {
	t.Parallel()
	pairs(t, func(t *testing.T, from *sqlx.DB, to string) {
		store := folder(t)
		fill(t, migrated(t, from), store)
		_, name := write(t, from, &backup.WriteOptions{Media: store})
		db := testkit.Open(t, to)
		_, err := restoreAccount(t, name, "acc", db)
		require.ErrorIs(t, err, backup.ErrOldTables)
		migrated(t, db)
		_, err = restoreAccount(t, name, "b", db)
		require.ErrorIs(t, err, backup.ErrNoAccount)

		done, err := restoreAccount(t, name, " Ana@example.org", db)
		require.NoError(t, err)
		require.Equal(t, backup.Restored{Account: "acc", Rows: 5, Files: 1}, done)
		var accounts []string
		require.NoError(t, db.Select(&accounts, `SELECT id FROM auth_account`))
		require.Equal(t, []string{"acc"}, accounts)
		var user struct{ Name, Created string }
		require.NoError(t, db.Get(&user, `SELECT name, CAST(created_us AS TEXT) AS created FROM auth_user`))
		require.Equal(t, "Ana <\u2028> \"é\" \\ 😀\n", user.Name)
		require.Equal(t, "9007199254740993", user.Created)
		_, err = restoreAccount(t, name, "acc", db)
		require.ErrorIs(t, err, backup.ErrExists)
	})
}

// TestRestoreAccount_Conflict changes nothing when something is in the way, and lets
// numbers continue after those that were restored.
func TestRestoreAccount_Conflict(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, to string) {
		from := migrated(t, testkit.Open(t, testkit.SQLiteURL(t)))
		from.MustExec(`INSERT INTO auth_account (id, created_us) VALUES ('acc', 1)`)
		from.MustExec(`INSERT INTO auth_user (id, account_id, email, name, password, permissions, version, created_us)
			VALUES ('u1', 'acc', 'ana@example.org', 'Ana', 'hash', '', 1, 1)`)
		const event = `INSERT INTO webhook_event (id, at_us, account, scope, type, order_key, chat_id, message_id, headers, body)
			VALUES ($1, 1, $2, '1', 'message', 'k', '', '', '', '{}')`
		from.MustExec(`DELETE FROM sqlite_sequence WHERE name = 'webhook_event'`)
		from.MustExec(`INSERT INTO sqlite_sequence (name, seq) VALUES ('webhook_event', 41)`)
		from.MustExec(event, "e1", "acc")
		from.MustExec(`UPDATE sqlite_sequence SET seq = 99 WHERE name = 'webhook_event'`)
		from.MustExec(event, "e2", "acc")
		_, name := write(t, from, nil)

		db := migrated(t, testkit.Open(t, to))
		db.MustExec(`INSERT INTO auth_account (id, created_us) VALUES ('other', 1)`)
		db.MustExec(`INSERT INTO auth_user (id, account_id, email, name, password, permissions, version, created_us)
			VALUES ('gone', 'other', 'gone', 'Gone', 'hash', '', 1, 1), ('u2', 'other', 'ana@example.org', 'Ana', 'hash', '', 1, 1)`)
		db.MustExec(`DELETE FROM auth_user WHERE id = 'gone'`) // whose number the restored user had
		for range 42 {
			db.MustExec(event, "other", "other") // the last has the number of the other's
		}
		refused := func(why string) {
			t.Helper()
			before := testkit.Contents(t, db)
			_, err := restoreAccount(t, name, "acc", db)
			require.ErrorIs(t, err, backup.ErrExists)
			require.ErrorContains(t, err, why)
			require.Equal(t, before, testkit.Contents(t, db))
		}
		refused("the user ana@example.org, of another account")
		db.MustExec(`UPDATE auth_user SET email = 'other@example.org'`)
		refused("a row of table webhook_event")
		db.MustExec(`DELETE FROM webhook_event`)
		done, err := restoreAccount(t, name, "acc", db)
		require.NoError(t, err)
		require.EqualValues(t, 4, done.Rows)
		db.MustExec(event, "next", "other")
		var numbers []int64
		require.NoError(t, db.Select(&numbers, `SELECT number FROM webhook_event ORDER BY number`))
		require.Equal(t, []int64{42, 100, 101}, numbers)
	})
}
