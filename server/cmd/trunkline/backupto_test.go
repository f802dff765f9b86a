package main_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestBackupTo writes backups into a folder and a bucket, again and again while the
// server runs, keeps the newest two, and restores the newest.
func TestBackupTo(t *testing.T) {
	bucket := testkit.S3Server(t)
	t.Setenv("AWS_ACCESS_KEY_ID", testkit.S3Access)
	t.Setenv("AWS_SECRET_ACCESS_KEY", testkit.S3Secret)
	data := t.TempDir()
	r := newEnv(t, "sent")
	n := launch(t, r.args("--data", data)...)
	r.balancer.open(n)
	r.setup(t)
	r.await(t, r.canary(t, 0), 1)
	guide := testkit.ReadGuide(t, "../../../docs/operations.md")
	folder := filepath.Join(t.TempDir(), "backups")
	for name, to := range map[string]struct{ address, folder string }{
		"folder": {folder, folder},
		"bucket": {bucket.URL("nightly/"), filepath.Join(bucket.Folder, "bucket", "nightly")},
	} {
		t.Run(name, func(t *testing.T) {
			restored := filepath.Join(t.TempDir(), "new")
			lines := strings.Split(guide.Block(t, "backup-every", // the folders last: their names have numbers, too
				"24h", "1s", "14", "2", "'s3://backups?endpoint=https://s3.example.com'", to.address, "/var/lib/new", restored), "\n")
			cmd := trunkline(t)
			cmd.Args = append(strings.Fields(lines[0]), "--with-secret", "--data", data)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			errs := &text{}
			cmd.Stderr = errs
			require.NoError(t, cmd.Start())
			var last string
			printed := bufio.NewScanner(out)
			for wrote := 0; wrote < 4; {
				require.True(t, printed.Scan(), "it ended: %s", errs)
				if _, err := fmt.Sscanf(printed.Text(), "Wrote %s", &last); err == nil {
					wrote++
				}
			}
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			for printed.Scan() {
			}
			require.NoError(t, cmd.Wait(), errs)
			last = strings.TrimSuffix(last, ":")

			entries, err := os.ReadDir(to.folder)
			require.NoError(t, err)
			require.Contains(t, []int{2, 3}, len(entries), "the interrupt may come before the oldest is deleted: %v", entries)
			newest := entries[len(entries)-1].Name()
			require.GreaterOrEqual(t, newest, last)

			text, _ := succeeds(t, strings.Fields(lines[1])[1:]...)
			require.Contains(t, text, "Restored ")
			again := filepath.Join(t.TempDir(), "again.trunkline")
			succeeds(t, "backup", again, "--data", restored)
			require.Equal(t, manifest(t, filepath.Join(to.folder, newest)).Tables, manifest(t, again).Tables)

			text, _ = succeeds(t, "restore", entries[0].Name(), "--from", to.address, "--data", filepath.Join(t.TempDir(), "older"))
			require.Contains(t, text, "Restored ")
			require.Contains(t, refuses(t, "restore", "monday.trunkline", "--from", to.address, "--data", t.TempDir()), "FILE: there is no such backup")
		})
	}
	n.terminate(t)
}

func TestBackupToRefuses(t *testing.T) {
	t.Parallel()
	data, empty := t.TempDir(), t.TempDir()
	missing := filepath.Join(empty, "missing")
	for _, c := range []struct {
		why  string
		args []string
	}{
		{"FILE: must be given, or --to", []string{"backup"}},
		{"FILE: must not be given with --to", []string{"backup", "x", "--to", empty}},
		{"--to: must be given with --every", []string{"backup", "x", "--every", "24h"}},
		{"--to: must be given with --every", []string{"backup", "x", "--keep", "2"}},
		{"--every: must be a duration like 24h", []string{"backup", "--to", empty, "--every", "0"}},
		{"--every: must be a duration like", []string{"backup", "--to", empty, "--every", "daily"}},
		{"--keep: must be", []string{"backup", "--to", empty, "--keep", "0"}},
		{"--to: it cannot be used: destination: the address names no bucket", []string{"backup", "--to", "s3://"}},
		{"--data: the database does not exist", []string{"backup", "--to", empty, "--every", "24h"}},
		{"FILE: must be given, or --from", []string{"restore"}},
		{"--from: there is no backup", []string{"restore", "--from", empty}},
		{"--from: the folder cannot be read", []string{"restore", "--from", missing}},
	} {
		require.Contains(t, refuses(t, append(c.args, "--data", data)...), c.why, "%v", c.args)
	}
	require.NoDirExists(t, missing, "to read from")
}
