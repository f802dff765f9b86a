package open_test

import (
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/database/open"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

func TestOpenSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "with space & more#.db")
	for query, synchronous := range map[string]int{"": 2, "?synchronous=normal": 1, "?synchronous=FULL": 2, "?synchronous=extra": 3} {
		db, err := open.Open(t.Context(), "sqlite://"+path+query)
		require.NoError(t, err)
		for pragma, want := range map[string]int{"synchronous": synchronous, "foreign_keys": 1, "busy_timeout": 5000} {
			var v int
			require.NoError(t, db.Get(&v, "PRAGMA "+pragma))
			require.Equal(t, want, v, pragma)
		}
		var mode string
		require.NoError(t, db.Get(&mode, "PRAGMA journal_mode"))
		require.Equal(t, "wal", mode)
		require.NoError(t, db.Close())
	}
	require.FileExists(t, path)
}

// TestOpenMemory writes and reads at once, on many connections.
func TestOpenMemory(t *testing.T) {
	t.Parallel()
	db, err := open.Open(t.Context(), "sqlite://:memory:")
	require.NoError(t, err)
	other, err := open.Open(t.Context(), "sqlite://:memory:")
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `CREATE TABLE word (id INTEGER PRIMARY KEY)`)
	require.NoError(t, err)
	const writers, each = 8, 20
	var g errgroup.Group
	for range writers {
		g.Go(func() error {
			for range each {
				if _, err := db.ExecContext(t.Context(), `INSERT INTO word DEFAULT VALUES`); err != nil {
					return err
				}
				var n int
				if err := db.GetContext(t.Context(), &n, `SELECT count(*) FROM word`); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	var n int
	require.NoError(t, db.Get(&n, `SELECT count(*) FROM word`))
	require.Equal(t, writers*each, n)
	require.Error(t, other.Get(&n, `SELECT count(*) FROM word`), "another database")
	require.NoError(t, db.Close())
	require.NoError(t, other.Close())
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	for url, says := range map[string]string{
		"":                                "must begin with",
		"mysql://x":                       "must begin with",
		"sqlite://":                       "path is missing",
		"sqlite:///tmp/x?synchronous=off": "synchronous must be",
		"sqlite:///no/such/folder/x.db":   "connecting to the database",
		"postgres://u:s3cret@%zz/x":       "malformed",
		"postgres://u:s3cret@/x?host=/no/such/folder": "connecting to the database",
	} {
		_, err := open.Open(t.Context(), url)
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), "s3cret")
	}
}

// TestOpenPostgres reaches a server without sslmode in the URL: it has no TLS,
// and a Unix socket needs none.
func TestOpenPostgres(t *testing.T) {
	t.Parallel()
	db, err := open.Open(t.Context(), testkit.PostgresURL(t))
	require.NoError(t, err)
	var one int
	require.NoError(t, db.Get(&one, `SELECT $1 + 0`, 1))
	require.Equal(t, 1, one)
	require.NoError(t, db.Close())
}

// TestOpenRemote asks a server that is not local for TLS, and tells it nothing
// when it refuses.
func TestOpenRemote(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	seen := make(chan []byte, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close() //nolint:errcheck // the client has gone
		b := make([]byte, 8)
		_, _ = io.ReadFull(c, b)
		_, _ = c.Write([]byte("N"))
		rest, _ := io.ReadAll(c)
		seen <- slices.Concat(b, rest)
	}()
	_, err = open.Open(t.Context(), "postgres://u:s3cret@"+l.Addr().String()+"/x")
	require.ErrorContains(t, err, "SSL is not enabled")
	require.Equal(t, []byte{0, 0, 0, 8, 4, 210, 22, 47}, <-seen, "a request for TLS, and nothing else")
}

// TestFilesArePrivate checks that new files are private, and that the mode of
// existing ones does not change.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	mode := func(name string) fs.FileMode {
		info, err := os.Stat(name)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	path := filepath.Join(t.TempDir(), "new.db")
	db, err := open.Open(t.Context(), "sqlite://"+path)
	require.NoError(t, err)
	db.MustExec(`CREATE TABLE x (n INTEGER)`)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		require.Equal(t, fs.FileMode(0o600), mode(path+suffix), suffix)
	}
	require.NoError(t, db.Close())
	require.NoError(t, os.Chmod(path, 0o640))
	db, err = open.Open(t.Context(), "sqlite://"+path)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.Equal(t, fs.FileMode(0o640), mode(path))
}
