package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// stopped is the data folder of a server that has stored a file, and has ended; and the
// file's name in it.
func stopped(t *testing.T, args ...string) (data, file string) {
	t.Helper()
	r := newEnv(t)
	data = args[1]
	n := launch(t, r.args(args...)...)
	r.balancer.open(n)
	r.setup(t)
	id := r.upload(t, []byte("some words in a file"), "words.txt")["mediaId"].(string)
	n.terminate(t)
	require.NoError(t, filepath.WalkDir(filepath.Join(data, "media"), func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(filepath.Base(path), id) {
			file = path
		}
		return err
	}))
	require.NotEmpty(t, file)
	return data, file
}

// found is a finding of the doctor.
type found struct{ State, Text string }

// find runs the doctor and returns the first that it says about something.
func find(t *testing.T, check string, args ...string) found {
	t.Helper()
	_, out, why := ran(t, append([]string{"doctor", "--json"}, args...)...)
	var report struct {
		Findings []struct {
			found

			Check string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report), why)
	for _, f := range report.Findings {
		if f.Check == check {
			return f.found
		}
	}
	require.Fail(t, "the doctor did not look at it", check)
	return found{}
}

// TestDamagedFile changes, truncates and removes a file of a message: the doctor names
// it, and no backup is made of what is damaged.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, database []string) {
		_, file := stopped(t, database...)
		args := append([]string{"--files"}, database...)
		require.Equal(t, "ok", find(t, "files", args...).State)
		sound, err := os.ReadFile(file)
		require.NoError(t, err)
		to := t.TempDir()
		backup := func(want int, name string, more ...string) string {
			code, out, why := ran(t, slices.Concat([]string{"backup", filepath.Join(to, name)}, more, database)...)
			require.Equal(t, want, code, out+why)
			return out + why
		}
		for name, bytes := range map[string][]byte{"overwritten": []byte("same words in a file"), "truncated": sound[:5]} {
			require.NoError(t, os.WriteFile(file, bytes, 0o600))
			got := find(t, "files", args...)
			require.Equal(t, "bad", got.State, name)
			require.Regexp(t, `^1 of \d files are damaged: `+filepath.Base(file), got.Text, name) // nodes share another one
			require.Contains(t, backup(1, name), "has other content than when it was stored")
			require.NoFileExists(t, filepath.Join(to, name))
		}
		require.Contains(t, backup(0, "rest", "--skip-damaged"), "1 damaged files are not in it")
		require.NoError(t, os.Remove(file))
		require.Regexp(t, `^1 of \d files are missing: `+filepath.Base(file), find(t, "files", args...).Text)
		require.NoError(t, os.WriteFile(file, sound, 0o600))
		require.NotContains(t, backup(0, "whole"), "damaged")
	})
}

// TestCorruptDatabase overwrites pages of the database: the doctor and the backup notice.
func TestCorruptDatabase(t *testing.T) {
	t.Parallel()
	data, _ := stopped(t, "--data", t.TempDir())
	require.Equal(t, "ok", find(t, "content", "--data", data).State)
	name := filepath.Join(data, "trunkline.db")
	db := testkit.Open(t, "sqlite://"+name)
	_, err := db.ExecContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`)
	require.NoError(t, err)
	var pages []int64
	require.NoError(t, db.SelectContext(t.Context(), &pages, `SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name IN ('messaging_chat', 'messaging_reference') AND rootpage > 0`))
	require.NotEmpty(t, pages)
	var size int64
	require.NoError(t, db.GetContext(t.Context(), &size, `PRAGMA page_size`))
	require.NoError(t, db.Close())
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	require.NoError(t, err)
	for _, page := range pages {
		_, err := file.WriteAt([]byte(strings.Repeat("\xee", 64)), (page-1)*size)
		require.NoError(t, err)
	}
	require.NoError(t, file.Close())
	got := find(t, "content", "--data", data)
	require.Equal(t, "bad", got.State)
	require.Contains(t, got.Text, "the database is corrupt: ")
	code, _, why := ran(t, "backup", filepath.Join(data, "backup"), "--data", data)
	require.Equal(t, 1, code)
	require.Contains(t, why, "the database is corrupt")
	require.Contains(t, why, "No backup was written")
	require.NoFileExists(t, filepath.Join(data, "backup"))
}

// TestDamagedLog kills a server and changes 64 bytes in the log of its database: no
// command opens it until the operator gives up what follows the damage.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	r := newEnv(t)
	n := launch(t, r.args("--data", data)...)
	r.balancer.open(n)
	r.signUp(t)
	for _, name := range []string{"bob", "eve"} {
		r.call(t, 201, "POST", "/user/signup", fmt.Sprintf(`{"email":"%s@example.org","password":"correct horse","name":%q}`, name, name))
	}
	n.kill()
	name := filepath.Join(data, "trunkline.db")
	log, err := os.ReadFile(name + "-wal")
	require.NoError(t, err)
	copy(log[1000:], strings.Repeat("\xee", 64))
	require.NoError(t, os.WriteFile(name+"-wal", log, 0o600))

	const why = "the write-ahead log of the database is damaged at byte 32"
	require.Contains(t, refuses(t, "--addr", "127.0.0.1:0", "--data", data), why)
	got := find(t, "content", "--data", data)
	require.Equal(t, "bad", got.State)
	require.Contains(t, got.Text, why)
	_, _, stderr := ran(t, "backup", filepath.Join(data, "backup"), "--data", data)
	require.Contains(t, stderr, why)
	require.NoFileExists(t, filepath.Join(data, "backup"))
	launch(t, r.args("--data", data, "--database-url", "sqlite://"+name+"?damaged_wal=drop")...).terminate(t)
	launch(t, r.args("--data", data)...).terminate(t)
	require.Equal(t, "ok", find(t, "content", "--data", data).State)
}

// TestDatabaseGone starts a server on a folder whose database is gone.
func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	data, _ := stopped(t, "--data", t.TempDir())
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(filepath.Join(data, "trunkline.db"+end))
	}
	code, _, why := ran(t, "--addr", "127.0.0.1:0", "--data", data)
	require.Equal(t, 2, code)
	require.Contains(t, why, "--data: the folder has the secret and the files of a server, but its database")
	require.NoFileExists(t, filepath.Join(data, "trunkline.db"))
}
