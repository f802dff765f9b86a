package backup_test

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/backup"
)

// accounts counts the rows of a table that every backup of these tests fills.
func accounts(t *testing.T, db *sqlx.DB) (n int) {
	t.Helper()
	require.NoError(t, db.Get(&n, `SELECT count(*) FROM auth_account`))
	return n
}

// TestUnfit takes texts that PostgreSQL cannot hold from SQLite to SQLite, and
// says which they are before it has restored anything into a PostgreSQL.
func TestUnfit(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"a\x00b":    "table auth_user: row 1: backup: PostgreSQL cannot hold it: column name has a text with the character NUL",
		"a\xff\xc0": "table auth_user: row 1: backup: PostgreSQL cannot hold it: column name has a text that is not UTF-8",
	} {
		from := migrated(t, testkit.Open(t, testkit.SQLiteURL(t)))
		fill(t, from, folder(t))
		from.MustExec(`UPDATE auth_user SET name = $1`, text)
		wrote, name := write(t, from, nil)
		testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
			err := restore(t, name, db, nil)
			if db.DriverName() == "sqlite" {
				require.NoError(t, err)
				again, _ := write(t, db, nil)
				require.Equal(t, wrote.Tables, again.Tables)
				var have string
				require.NoError(t, db.Get(&have, `SELECT name FROM auth_user`))
				require.Equal(t, text, have)
				return
			}
			require.ErrorIs(t, err, backup.ErrUnfit)
			require.ErrorContains(t, err, says)
			require.Zero(t, accounts(t, db))
		})
	}
}

// TestSecretBeforeRows checks that the secret is passed on before any row is
// committed. If that fails no rows are restored. If the process is killed in
// between there is a secret without rows, and the restore can be repeated.
func TestSecretBeforeRows(t *testing.T) {
	t.Parallel()
	from := migrated(t, testkit.Open(t, testkit.SQLiteURL(t)))
	fill(t, from, folder(t))
	_, name := write(t, from, &backup.WriteOptions{Secret: "the secret"})
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		a, err := backup.Open(name)
		require.NoError(t, err)
		defer a.Close() //nolint:errcheck // it was only read
		full, given := errors.New("the disk is full"), ""
		o := &backup.RestoreOptions{Migrate: migrate, Secret: func(string) error { return full }}
		require.ErrorIs(t, a.Restore(t.Context(), db, o), full)
		require.Zero(t, accounts(t, db))
		o.Secret = func(s string) error { given = s; return nil }
		require.NoError(t, a.Restore(t.Context(), db, o))
		require.Equal(t, "the secret", given)
		require.Equal(t, 3, accounts(t, db))
	})
}

// TestGiantRow refuses an archive with a row that has no end, and takes no
// memory for it; rows as large as ours may be go in one by one.
func TestGiantRow(t *testing.T) {
	from := migrated(t, testkit.Open(t, testkit.SQLiteURL(t)))
	store := folder(t)
	fill(t, from, store)
	for range 3 {
		from.MustExec(`INSERT INTO queue_job (partition_id, seq, subject) SELECT 99, (SELECT count(*) FROM queue_job), $1`, strings.Repeat("y", 8<<20))
	}
	_, name := write(t, from, nil)
	db := testkit.Open(t, testkit.SQLiteURL(t))
	require.NoError(t, restore(t, name, db, nil))
	require.Equal(t, 3, accounts(t, db))

	giant := replaced(t, name, "tables/auth_account.jsonl", io.MultiReader(
		strings.NewReader(`[1,"`), io.LimitReader(endless('z'), 130<<20), strings.NewReader("\"]\n")))
	db = testkit.Open(t, testkit.SQLiteURL(t))
	require.Less(t, allocated(func() {
		err := restore(t, giant, db, nil)
		require.ErrorIs(t, err, backup.ErrDamaged)
		require.ErrorContains(t, err, "table auth_account: row 1: backup: the file is damaged, or no backup: a row has more than 128 MiB")
	}), uint64(512<<20))
	require.Zero(t, accounts(t, db))
}

// allocated returns how many bytes were taken while fn ran.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// endless reads one byte for ever.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// replaced returns an archive of which one part says something else, with the right
// digest.
func replaced(t *testing.T, name, part string, body io.Reader) string {
	t.Helper()
	h := sha256.New()
	to, err := os.Create(filepath.Join(t.TempDir(), "replaced"))
	require.NoError(t, err)
	in, err := zip.OpenReader(name)
	require.NoError(t, err)
	defer in.Close() //nolint:errcheck // it was only read
	out := zip.NewWriter(to)
	for _, f := range in.File {
		if f.Name != part {
			require.NoError(t, out.Copy(f))
			continue
		}
		w, err := out.Create(f.Name)
		require.NoError(t, err)
		_, err = io.Copy(io.MultiWriter(w, h), body)
		require.NoError(t, err)
	}
	require.NoError(t, out.Close())
	require.NoError(t, to.Close())
	return crafted(t, to.Name(), func(m *backup.Manifest) {
		for i := range m.Tables {
			if tablePath := "tables/" + m.Tables[i].Name + ".jsonl"; tablePath == part {
				m.Tables[i].SHA256 = hex.EncodeToString(h.Sum(nil))
			}
		}
	})
}
