package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/backup/destination"
	main "github.com/trunklinehq/trunkline/server/cmd/trunkline"
	"github.com/trunklinehq/trunkline/sqldb"
)

// awaitUnavailable waits until a server that cannot start answers so, and returns what it
// says to everybody.
func awaitUnavailable(t *testing.T, addr, path string) (detail string) {
	t.Helper()
	testkit.AwaitListener(t, addr)
	res, err := http.Get("http://" + addr + path)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	require.Equal(t, "application/problem+json", res.Header.Get("Content-Type"))
	require.NotEmpty(t, res.Header.Get("Retry-After"))
	var problem struct{ Code, Detail string }
	require.NoError(t, json.Unmarshal(body, &problem))
	require.Equal(t, "unavailable", problem.Code)
	return problem.Detail
}

// started waits until a server has started.
func (n *node) started(t *testing.T, addr string) {
	t.Helper()
	select {
	case line, ok := <-n.ready:
		require.True(t, ok, "it ended: %s", n.stderr)
		require.Contains(t, line, "Trunkline is ready")
	case <-time.After(answerWithin):
		require.Fail(t, "it did not start")
	}
	n.host = addr
	require.Zero(t, n.awaitProbe(t, http.StatusOK).Truncate(answerWithin))
}

// TestStartBeforeDatabase starts the server before its PostgreSQL. It says so, and
// starts when that is up.
func TestStartBeforeDatabase(t *testing.T) {
	t.Parallel()
	database := testkit.PostgresServer(t, testkit.PostgresOptions{})
	url := database.Database(t)
	database.Stop(t)
	addr := testkit.FreeAddress(t)
	args := []string{"--data", t.TempDir(), "--addr", addr, "--database-url", url, "--secret", sharedSecret}
	n := spawn(t, nil, args...)
	for _, path := range []string{"/probe", "/webhooks/provider", "/panel/"} {
		require.Equal(t, "the server waits until it can start: the database or the store of files cannot be reached", awaitUnavailable(t, addr, path))
	}
	require.Contains(t, n.stderr.String(), "the server waits until it can start")
	require.Contains(t, n.stderr.String(), "connect: no such file or directory", "the operator is told why")
	require.NotContains(t, n.stderr.String(), sharedSecret)
	database.Start(t)
	n.started(t, addr)
	said := regexp.MustCompile(`the server waits until it can start" cause=.*`).FindAllString(n.stderr.String(), -1)
	slices.Sort(said)
	require.Len(t, slices.Compact(slices.Clone(said)), len(said), "each cause once, not at each attempt")
	n.terminate(t)

	var slowest time.Duration
	rounds := testkit.Rounds(atLength)
	for range rounds {
		database.Stop(t)
		n = spawn(t, nil, args...)
		awaitUnavailable(t, addr, "/probe")
		database.Start(t)
		began := time.Now()
		n.started(t, addr)
		slowest = max(slowest, time.Since(began))
		n.terminate(t)
	}
	t.Logf("promise: %s, %d times: everything worked %.1f s after the end", t.Name(), rounds, slowest.Seconds())
	if rounds >= atLength {
		require.LessOrEqual(t, slowest, recovered)
	}

	database.Stop(t)
	n = spawn(t, nil, args...)
	awaitUnavailable(t, addr, "/probe")
	n.terminate(t)
}

// TestPasses has real errors of systems and drivers: those that pass, and those that
// an operator must correct.
func TestPasses(t *testing.T) {
	t.Parallel()
	require.Empty(t, main.Passes(nil))
	if runtime.GOOS == "linux" {
		require.Equal(t, "the disk is full", main.Passes(os.WriteFile("/dev/full", []byte("x"), 0)))
	}
	db, err := sqlx.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "small.db")+"?_pragma=max_page_count(2)")
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // it is full
	_, err = db.ExecContext(t.Context(), `CREATE TABLE a AS SELECT zeroblob(100000)`)
	require.Error(t, err)
	require.Equal(t, "the disk is full", main.Passes(fmt.Errorf("writing: %w", err)))
	_, err = db.ExecContext(t.Context(), `SELECT no_such_column`)
	require.Error(t, err)
	require.Empty(t, main.Passes(err))

	open := func(url string) error {
		db, err := sqldb.Open(t.Context(), url)
		if err == nil {
			err = errors.Join(errors.New("it opened"), db.Close())
		}
		return err
	}
	const away = "the database or the store of files cannot be reached"
	real := testkit.PostgresURL(t)
	require.Equal(t, away, main.Passes(open("postgres://u@127.0.0.1:1/x")), "nothing listens")
	require.Equal(t, away, main.Passes(open("postgres://u@no-such-host.invalid/x")), "no such name")
	require.Equal(t, away, main.Passes(open(real+"&target_session_attrs=standby")), "another server than it must be")
	require.Empty(t, main.Passes(open(strings.Replace(real, "postgres@", "nobody-of-this-name@", 1))), "no such user")
	require.Empty(t, main.Passes(open(real+"&sslmode=require")), "no TLS over a socket")
	require.Empty(t, main.Passes(open("sqlite://"+t.TempDir())), "a folder")

	bucket := func(status int) error {
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		defer service.Close()
		_, err := destination.Open(t.Context(), "s3://backups?endpoint="+service.URL)
		return err
	}
	require.Equal(t, away, main.Passes(bucket(http.StatusServiceUnavailable)), "a bucket that is busy")
	require.Empty(t, main.Passes(bucket(http.StatusForbidden)), "another's bucket")
	require.Empty(t, main.Passes(bucket(http.StatusNotFound)), "no such bucket")
}
