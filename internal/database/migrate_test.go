package database_test

import (
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

func migration(sql string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte("-- +goose Up\n" + sql)}
}

// files are two versions of a package; the second differs by dialect.
func files() (v1, v2 fstest.MapFS) {
	first := migration(`CREATE TABLE p_a (n BIGINT PRIMARY KEY);`)
	v1 = fstest.MapFS{"migrations/00001_init.sql": first}
	v2 = fstest.MapFS{
		"migrations/00001_init.sql":           first,
		"migrations/00002_more.sqlite.sql":    migration(`CREATE TABLE p_b (dialect TEXT); INSERT INTO p_b VALUES ('sqlite');`),
		"migrations/00002_more.postgres.sql":  migration(`CREATE TABLE p_b (dialect TEXT); INSERT INTO p_b VALUES ('postgres');`),
		"migrations/00003_third.sql":          migration(`CREATE TABLE p_c (n BIGINT);`),
		"migrations/notes/00009_not_here.txt": {Data: []byte("x")},
	}
	return v1, v2
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		ctx := t.Context()
		v1, v2 := files()
		require.NoError(t, database.Migrate(ctx, db, "p", v1))
		db.MustExec(`INSERT INTO p_a (n) VALUES (7)`)
		require.NoError(t, database.Migrate(ctx, db, "p", v2))
		require.NoError(t, database.Migrate(ctx, db, "p", v2))
		q := fstest.MapFS{"migrations/00001_q.sql": migration(`CREATE TABLE q_a (n BIGINT);`)}
		require.NoError(t, database.Migrate(ctx, db, "q", q), "each package has its own versions")

		d, err := database.Of(ctx, db)
		require.NoError(t, err)
		var dialect string
		require.NoError(t, db.Get(&dialect, `SELECT dialect FROM p_b`))
		require.Equal(t, d.Dialect.String(), dialect)
		var n int
		require.NoError(t, db.Get(&n, `SELECT n FROM p_a`))
		require.Equal(t, 7, n)

		db.MustExec(`DROP TABLE q_a`)
		require.NoError(t, database.Migrate(ctx, db, "q", q), "what was done on this handle is not looked at again")
		err = database.Migrate(ctx, db, "p", v1)
		require.ErrorIs(t, err, database.ErrNewer)
		require.ErrorContains(t, err, "the tables of p have version 3, this program knows 1")
	})
}

// TestMigrate_ReadsVersionsOnce upgrades a database that has the newest tables of
// two packages.
func TestMigrate_ReadsVersionsOnce(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		ctx := t.Context()
		v1, v2 := files()
		q := fstest.MapFS{"migrations/00001_q.sql": migration(`CREATE TABLE q_a (n BIGINT);`)}
		require.NoError(t, database.Migrate(ctx, db, "p", v2))
		require.NoError(t, database.Migrate(ctx, db, "q", q))

		again, asked := testkit.Counting(t, db)
		_, err := database.Of(ctx, again)
		require.NoError(t, err)
		before := asked.Statements.Load()
		require.NoError(t, database.Migrate(ctx, again, "p", v2))
		require.NoError(t, database.Migrate(ctx, again, "q", q))
		require.EqualValues(t, 2, asked.Statements.Load()-before, "the names of the tables, and their versions: %v", asked.Texts())
		require.ErrorIs(t, database.Migrate(ctx, again, "p", v1), database.ErrNewer)
	})
}

func TestMigrateFails(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		bad := fstest.MapFS{"migrations/00001_init.sql": migration("CREATE TABLE p_a (n BIGINT);\nCREATE TABLE nonsense nonsense;")}
		require.ErrorContains(t, database.Migrate(t.Context(), db, "p", bad), "p migrations")
		v1, _ := files()
		require.NoError(t, database.Migrate(t.Context(), db, "p", v1), "the failed one has left nothing")
	})
}

// TestMigrateTogether starts several programs on one empty database.
func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		_, v2 := files()
		const n = 4
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			db := testkit.Open(t, url)
			wg.Go(func() { errs[i] = database.Migrate(t.Context(), db, "p", v2) })
		}
		wg.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		var rows int
		require.NoError(t, testkit.Open(t, url).Get(&rows, `SELECT count(*) FROM p_b`))
		require.Equal(t, 1, rows)
	})
}

// TestMigrate_NoFTS5 has a program whose SQLite lacks full-text indexes create the tables:
// it goes on without the index, also when a later program has them.
func TestMigrate_NoFTS5(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	files := fstest.MapFS{
		"00001_init.sql":              migration(`CREATE TABLE p_a (n BIGINT);`),
		"00002_index.fts5.sqlite.sql": migration(`CREATE VIRTUAL TABLE p_index USING fts5 (names);`),
		"00003_more.sql":              migration(`CREATE TABLE p_b (n BIGINT);`),
	}
	tables := func() (names []string) {
		require.NoError(t, db.SelectContext(t.Context(), &names, `SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'p\__%' ESCAPE '\' ORDER BY name`))
		return names
	}
	require.NoError(t, database.MigratePlain(t.Context(), db, "p", files))
	require.Equal(t, []string{"p_a", "p_b", "p_schema_version"}, tables())

	within := fstest.MapFS{}
	for name, file := range files {
		within["migrations/"+name] = file
	}
	require.NoError(t, database.Migrate(t.Context(), db, "p", within))
	require.Equal(t, []string{"p_a", "p_b", "p_schema_version"}, tables())

	other := testkit.Open(t, testkit.SQLiteURL(t))
	require.NoError(t, database.Migrate(t.Context(), other, "p", within))
	var indexed bool
	require.NoError(t, other.GetContext(t.Context(), &indexed, `SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'p_index')`))
	require.True(t, indexed, "this SQLite has FTS5")
}
