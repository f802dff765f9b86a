package testkit_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

func TestEachDatabase(t *testing.T) {
	t.Parallel()
	for range 2 { // the second time finds an empty database again
		testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
			db.MustExec(`CREATE TABLE x (a BIGINT); INSERT INTO x VALUES (1)`)
			var n int
			require.NoError(t, db.Get(&n, `SELECT count(*) FROM x`))
			require.Equal(t, 1, n)
		})
	}
}

func BenchmarkEachDatabase(b *testing.B) {
	testkit.BenchmarkEach(b, func(b *testing.B, db *sqlx.DB) {
		for b.Loop() {
			db.MustExec(`SELECT 1`)
		}
	})
}

func TestServerRestart(t *testing.T) {
	t.Parallel()
	s := testkit.PostgresServer(t, testkit.PostgresOptions{Durable: true})
	url := s.Database(t)
	testkit.Open(t, url).MustExec(`CREATE TABLE x (a BIGINT); INSERT INTO x VALUES (1)`)
	for _, end := range []func(testing.TB){s.Stop, s.Kill} {
		end(t)
		s.Start(t)
		var n int
		require.NoError(t, testkit.Open(t, url).Get(&n, `SELECT count(*) FROM x`))
		require.Equal(t, 1, n)
	}
}

// TestServerDiesWithTheTest kills a test binary that has a server.
func TestServerDiesWithTheTest(t *testing.T) {
	t.Parallel()
	const child = "TESTKIT_CHILD"
	if os.Getenv(child) != "" {
		url := testkit.PostgresURL(t)
		_, err := os.Stdout.WriteString("url " + url + "\n")
		require.NoError(t, err)
		select {}
	}
	testkit.PostgresURL(t) // skips without binaries
	before := time.Now()
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerDiesWithTheTest$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	dir := ""
	for lines := bufio.NewScanner(out); dir == "" && lines.Scan(); {
		if _, host, ok := strings.Cut(lines.Text(), "host="); ok {
			dir = strings.ReplaceAll(host, "%2F", "/")
		}
	}
	require.DirExists(t, dir)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Clean(dir))
		return os.IsNotExist(err)
	}, 40*time.Second, 10*time.Millisecond)
	t.Log("gone after", time.Since(before))
}

// TestFailEach has each of two statements fail, and then none.
func TestFailEach(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		db.MustExec(`CREATE TABLE x (a BIGINT)`)
		seen, asked := testkit.Counting(t, db)
		var errs []error
		do := func() error {
			_, err := seen.Exec(`INSERT INTO x VALUES (1)`)
			if err == nil {
				err = seen.Get(new(int), `SELECT count(*) FROM x`)
			}
			errs = append(errs, err)
			return err
		}
		asked.FailEach(t, do)
		require.Len(t, errs, 3)
		require.Error(t, errs[0])
		require.Error(t, errs[1])
		asked.FailEach(t, func() error {
			_ = do()
			return nil
		}, "INSERT", "SELECT")
		require.NoError(t, do())
	})
}

func TestRounds(t *testing.T) {
	t.Setenv("ROUNDS", "")
	require.Equal(t, 3, testkit.Rounds(3))
	t.Setenv("ROUNDS", "50")
	require.Equal(t, 50, testkit.Rounds(3))
	t.Setenv("ROUNDS", "-1")
	require.Equal(t, 3, testkit.Rounds(3))
}

func TestShared(t *testing.T) {
	t.Setenv("TRUNKLINE_SHARED", "/some/where")
	require.Equal(t, "/some/where", testkit.Shared(t))
	t.Setenv("TRUNKLINE_SHARED", "")
	t.Setenv("CI", "")
	ok := t.Run("missing", func(t *testing.T) {
		t.Cleanup(func() { require.True(t, t.Skipped()) })
		testkit.Shared(t)
	})
	require.True(t, ok)
}
