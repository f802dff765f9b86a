package backup_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/backup"
)

// pairs runs fn for each kind of database that is written, and each that it is
// restored into.
func pairs(t *testing.T, fn func(t *testing.T, from *sqlx.DB, to string)) {
	t.Helper()
	kinds := map[string]func(testing.TB) string{"sqlite": testkit.SQLiteURL, "postgres": testkit.PostgresURL}
	for name, from := range kinds {
		t.Run("from "+name, func(t *testing.T) {
			t.Parallel()
			testkit.EachURL(t, func(t *testing.T, to string) { fn(t, testkit.Open(t, from(t)), to) })
		})
	}
}

// migrate makes the tables of a program with WhatsApp Web.
func migrate(ctx context.Context, db *sqlx.DB) error {
	return errors.Join(server.Migrate(ctx, db), web.Migrate(ctx, db))
}

func migrated(t *testing.T, db *sqlx.DB) *sqlx.DB {
	t.Helper()
	require.NoError(t, migrate(t.Context(), db))
	return db
}

const (
	fileA = "01990000-0000-7000-8000-00000000000a"
	fileB = "01990000-0000-7000-8000-00000000000b"
	mark  = "01990000-0000-7000-8000-0000000000ff"
)

// fill makes rows with every kind of value, and files.
func fill(t *testing.T, db *sqlx.DB, store media.Store) {
	t.Helper()
	db.MustExec(`INSERT INTO auth_account (id, created_us) VALUES ('acc', 1), ('Émile', 2), ('B', 3)`)
	db.MustExec(`INSERT INTO auth_first (id, account_id) VALUES (1, 'acc')`)
	db.MustExec(`INSERT INTO auth_user (id, account_id, email, name, password, permissions, version, created_us)
		VALUES ('u1', 'acc', 'ana@example.org', $1, 'hash', '', 1, 9007199254740993)`, "Ana <\u2028> \"é\" \\ 😀\n")
	tx := db.MustBegin()
	for i := range 2500 {
		tx.MustExec(`INSERT INTO queue_job (partition_id, seq, subject) VALUES ($1, $2, $3)`, i%7, i, strings.Repeat("x", i%50))
	}
	require.NoError(t, tx.Commit())
	db.MustExec(`INSERT INTO queue_review (queue, subscriber, key) VALUES ('q', 's', 'k')`)
	db.MustExec(`DELETE FROM queue_review`) // its number must not come again
	db.MustExec(`INSERT INTO messaging_change (account, reference, kind, data, created_us) VALUES ('acc', 1, 'message', '{}', 1)`)
	key, sig := bytes.Repeat([]byte{0, 255}, 16), bytes.Repeat([]byte{7}, 64)
	db.MustExec(`INSERT INTO whatsmeow_device (jid, lid, facebook_uuid, registration_id, noise_key, identity_key, signed_pre_key, signed_pre_key_id,
		signed_pre_key_sig, adv_key, adv_details, adv_account_sig, adv_account_sig_key, adv_device_sig)
		VALUES ('1@s', NULL, '0198c0de-0000-7000-8000-000000000001', 4294967295, $1, $2, $3, 1, $4, $5, $6, $7, $8, $9)`,
		key, key, key, sig, []byte{}, []byte("{}"), sig, key, sig)
	db.MustExec(`INSERT INTO whatsmeow_pre_keys (jid, key_id, key, uploaded) VALUES ('1@s', 1, $1, TRUE), ('1@s', 2, $2, FALSE)`, key, key)
	db.MustExec(`INSERT INTO messaging_library (one, media) VALUES (1, $1)`, mark)
	for _, id := range []string{fileA, fileB} {
		db.MustExec(`INSERT INTO messaging_media (id, account, reference, message, waiting, gone, detail, bytes, used_us, created_us)
			VALUES ($1, 'acc', 1, 0, FALSE, FALSE, '{}', 3, 1, 1)`, id)
	}
	for _, id := range []string{fileA, mark} { // fileB was removed meanwhile
		require.NoError(t, store.Put(t.Context(), id, strings.NewReader(id), int64(len(id))))
	}
}

func folder(t *testing.T) media.Store {
	t.Helper()
	f, err := media.OpenFolder(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// write writes a backup into a file.
func write(t *testing.T, db *sqlx.DB, opts *backup.WriteOptions) (backup.Manifest, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "backup")
	f, err := os.Create(name)
	require.NoError(t, err)
	m, err := backup.Write(t.Context(), db, f, opts)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return m, name
}

// restore puts a backup back.
func restore(t *testing.T, name string, db *sqlx.DB, store media.Store) error {
	t.Helper()
	a, err := backup.Open(name)
	if err != nil {
		return err
	}
	defer a.Close() //nolint:errcheck // it was only read
	return a.Restore(t.Context(), db, &backup.RestoreOptions{Migrate: migrate, Media: store})
}

// TestRoundTrip takes everything from each kind of database to each: the rows
// are the same, and what counts continues where it was.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	pairs(t, func(t *testing.T, from *sqlx.DB, to string) {
		store, other := folder(t), folder(t)
		fill(t, migrated(t, from), store)
		steps := map[string]backup.Step{}
		wrote, name := write(t, from, &backup.WriteOptions{
			Media: store, Program: "1.2.3", Now: func() time.Time { return time.Unix(1_700_000_000, 5) },
			Progress: func(s backup.Step) { steps[s.What] = s },
		})
		require.Equal(t, "1.2.3", wrote.Program)
		require.Equal(t, time.Unix(1_700_000_000, 0).UTC(), wrote.CreatedAt)
		require.Equal(t, backup.Files{Count: 2, Bytes: 72, Gone: 1, SHA256: wrote.Files.SHA256}, wrote.Files)
		require.Equal(t, backup.Step{What: "files", Done: 3, Total: 3}, steps["files"])
		require.Equal(t, steps["rows"].Total, steps["rows"].Done)

		db := testkit.Open(t, to)
		require.NoError(t, restore(t, name, db, other))
		again, _ := write(t, db, &backup.WriteOptions{Media: other})
		require.Equal(t, wrote.Versions, again.Versions)
		require.Equal(t, wrote.Tables, again.Tables, "the same columns, rows, digests and counters")
		obj, err := other.Open(t.Context(), fileA)
		require.NoError(t, err)
		content, err := io.ReadAll(obj)
		require.NoError(t, err)
		require.NoError(t, obj.Close())
		require.Equal(t, fileA, string(content))

		var next, txid, current int64
		require.NoError(t, db.Get(&next, `INSERT INTO queue_review (queue, subscriber, key) VALUES ('q', 's', 'k') RETURNING id`))
		require.EqualValues(t, 2, next)
		require.NoError(t, db.Get(&txid, `SELECT txid FROM messaging_change`))
		require.Zero(t, txid, "before every transaction of this database")
		require.NoError(t, db.Get(&current, `INSERT INTO messaging_change (account, reference, kind, data, created_us)
			VALUES ('acc', 1, 'message', '{}', 1) RETURNING id`))
		require.EqualValues(t, 2, current)
	})
}

// TestSnapshot changes the database while it is read.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		store := folder(t)
		fill(t, migrated(t, db), store)
		before, _ := write(t, db, nil)
		changed := false
		during, name := write(t, db, &backup.WriteOptions{Progress: func(backup.Step) {
			if !changed {
				changed = true
				db.MustExec(`DELETE FROM queue_job`)
				db.MustExec(`INSERT INTO webhook_event (id, at_us, account, scope, type, order_key, chat_id, message_id, headers, body)
					VALUES ('e', 1, 'acc', '1', 'message', 'k', '', '', '', '{}')`)
				db.MustExec(`UPDATE whatsmeow_pre_keys SET uploaded = TRUE`)
			}
		}})
		require.True(t, changed)
		for i := range during.Tables {
			require.GreaterOrEqual(t, during.Tables[i].Last, before.Tables[i].Last)
			require.Equal(t, before.Tables[i].SHA256, during.Tables[i].SHA256, before.Tables[i].Name)
		}
		require.True(t, during.Files.Left)
		require.NoError(t, restore(t, name, testkit.Open(t, testkit.SQLiteURL(t)), nil))
	})
}

// TestNotEmpty leaves what is there alone.
func TestNotEmpty(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		store := folder(t)
		fill(t, migrated(t, db), store)
		_, name := write(t, db, &backup.WriteOptions{Media: store})
		err := restore(t, name, db, store)
		require.ErrorIs(t, err, backup.ErrNotEmpty)
		require.ErrorContains(t, err, "table auth_account has rows")
	})
}

// TestDamaged refuses a backup with any changed byte, a truncated one, and a file
// that is not a backup. The database then has no table.
func TestDamaged(t *testing.T) {
	t.Parallel()
	store := folder(t)
	from := testkit.Open(t, testkit.SQLiteURL(t))
	fill(t, migrated(t, from), store)
	_, name := write(t, from, &backup.WriteOptions{Media: store, Secret: "a secret"})
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	db := testkit.Open(t, testkit.SQLiteURL(t))
	try := func(b []byte) error {
		t.Helper()
		name := filepath.Join(t.TempDir(), "damaged")
		require.NoError(t, os.WriteFile(name, b, 0o600))
		return restore(t, name, db, store)
	}
	require.ErrorIs(t, try(nil), backup.ErrDamaged)
	require.ErrorIs(t, try([]byte("SQLite format 3")), backup.ErrDamaged)
	require.ErrorIs(t, try(whole[:len(whole)/2]), backup.ErrDamaged)
	for _, part := range []string{`"format"`, fileA + "PK", `{"id":"`} {
		i := bytes.Index(whole, []byte(part))
		if i < 0 {
			continue // it is compressed
		}
		b := bytes.Clone(whole)
		b[i+2] ^= 1
		require.ErrorIs(t, try(b), backup.ErrDamaged, part)
	}
	b := bytes.Clone(whole)
	b[bytes.Index(b, []byte("tables/queue_job.jsonl"))+60] ^= 1
	require.ErrorIs(t, try(b), backup.ErrDamaged)
	var tables int
	require.NoError(t, db.Get(&tables, `SELECT count(*) FROM sqlite_master`))
	require.Zero(t, tables)
	require.NoError(t, try(whole))
	_, err = backup.Open(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestCrafted refuses archives whose digests are right, but which say what no
// backup does, before a row is written.
func TestCrafted(t *testing.T) {
	t.Parallel()
	from := testkit.Open(t, testkit.SQLiteURL(t))
	store := folder(t)
	fill(t, migrated(t, from), store)
	_, name := write(t, from, &backup.WriteOptions{Media: store})
	at := func(m *backup.Manifest, table string) int {
		return slices.IndexFunc(m.Tables, func(t backup.Table) bool { return t.Name == table })
	}
	for what, change := range map[string]func(m *backup.Manifest){
		"a table is missing":     func(m *backup.Manifest) { m.Tables = m.Tables[1:] },
		"a table is there twice": func(m *backup.Manifest) { m.Tables = append(m.Tables, m.Tables[0]) },
		"a column is missing": func(m *backup.Manifest) {
			m.Tables[0].Columns = m.Tables[0].Columns[1:]
		},
		"no columns": func(m *backup.Manifest) { m.Tables[at(m, "auth_account")].Columns = nil },
		"a column is there twice": func(m *backup.Manifest) {
			c := m.Tables[0].Columns
			c[1] = c[0]
		},
		"another counts": func(m *backup.Manifest) { m.Tables[at(m, "auth_account")].Counter = "id" },
	} {
		db := testkit.Open(t, testkit.SQLiteURL(t))
		require.ErrorIs(t, restore(t, crafted(t, name, change), db, store), backup.ErrDamaged, what)
		var rows int
		require.NoError(t, db.Get(&rows, `SELECT count(*) FROM auth_account`), what)
		require.Zero(t, rows, what)
		require.NoError(t, restore(t, name, db, store), what)
	}
}

// crafted returns an archive with another manifest.
func crafted(t *testing.T, name string, change func(m *backup.Manifest)) string {
	t.Helper()
	in, err := zip.OpenReader(name)
	require.NoError(t, err)
	defer in.Close() //nolint:errcheck // it was only read
	to, err := os.Create(filepath.Join(t.TempDir(), "crafted"))
	require.NoError(t, err)
	out := zip.NewWriter(to)
	for _, f := range in.File {
		if f.Name != "manifest.json" {
			require.NoError(t, out.Copy(f))
			continue
		}
		r, err := f.Open()
		require.NoError(t, err)
		var m backup.Manifest
		require.NoError(t, json.NewDecoder(r).Decode(&m))
		change(&m)
		w, err := out.Create(f.Name)
		require.NoError(t, err)
		require.NoError(t, json.NewEncoder(w).Encode(m))
	}
	require.NoError(t, out.Close())
	require.NoError(t, to.Close())
	return to.Name()
}

// TestNewer refuses what a newer program wrote.
func TestNewer(t *testing.T) {
	t.Parallel()
	from := migrated(t, testkit.Open(t, testkit.SQLiteURL(t)))
	from.MustExec(`INSERT INTO webhook_schema_version (version_id, is_applied) VALUES (99, TRUE)`)
	_, name := write(t, from, &backup.WriteOptions{Program: "9.0.0"})
	err := restore(t, name, testkit.Open(t, testkit.SQLiteURL(t)), nil)
	require.ErrorIs(t, err, backup.ErrNewer)
	require.ErrorContains(t, err, "9.0.0: the tables of webhook have version 99, this program knows")
}

// TestOlder puts what an older program wrote into tables as it knew them, which
// are brought on afterwards.
func TestOlder(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, to string) {
		from := testkit.Open(t, testkit.SQLiteURL(t))
		older(t, from)
		from.MustExec(`INSERT INTO webhook_event (id, at_us, account, scope, type, order_key, chat_id, message_id, headers, body)
			VALUES ('e', 1, 'acc', '1', 'message', 'k', '', '', '', '{}')`)
		m, name := write(t, from, nil)
		db := testkit.Open(t, to)
		require.NoError(t, restore(t, name, db, nil))
		again, _ := write(t, db, nil)
		require.Equal(t, m.Versions, again.Versions)
		require.Equal(t, m.Tables, again.Tables)
		require.NoError(t, migrate(t.Context(), db))
		var rows int
		require.NoError(t, db.Get(&rows, `SELECT count(*) FROM webhook_deferred`))
	})
}

// TestCancelled leaves no row.
func TestCancelled(t *testing.T) {
	t.Parallel()
	store := folder(t)
	from := testkit.Open(t, testkit.SQLiteURL(t))
	fill(t, migrated(t, from), store)
	_, name := write(t, from, &backup.WriteOptions{Media: store})
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		a, err := backup.Open(name)
		require.NoError(t, err)
		defer a.Close() //nolint:errcheck // it was only read
		ctx, cancel := context.WithCancel(t.Context())
		err = a.Restore(ctx, db, &backup.RestoreOptions{Migrate: migrate, Progress: func(s backup.Step) {
			if s.What == "rows" && s.Done > 1000 {
				cancel()
			}
		}})
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, restore(t, name, db, nil), "it may be tried again")
	})
}

// older makes the tables as they were one version earlier.
func older(t *testing.T, db *sqlx.DB) {
	t.Helper()
	d, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	newest := migrated(t, testkit.Open(t, testkit.SQLiteURL(t)))
	n, err := database.Of(t.Context(), newest)
	require.NoError(t, err)
	versions, err := n.Versions(t.Context(), newest)
	require.NoError(t, err)
	versions["webhook"] = 1
	d.StopAt(versions)
	migrated(t, db)
	d.StopAt(nil)
}
