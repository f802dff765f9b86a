package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFilesArePrivate looks at the mode of each file that a server and a backup
// make, under a umask that takes nothing away, and opens some to others.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	data := filepath.Join(t.TempDir(), "data")
	p, base := start(t, nil, "--data", data)
	post(t, base+"/user/signup", account)
	seen := 0
	require.NoError(t, filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, "%s has %s", path, info.Mode())
		seen++
		return nil
	}))
	require.GreaterOrEqual(t, seen, 7, "the folder, lock, secret, database, -wal, -shm, media")
	require.NotContains(t, p.stderr.String(), "other users of this machine")
	require.Equal(t, "only the server's user has access to its files", examined(t, []string{"TRUNKLINE_DATA=" + data}, 0)["private"][0].Text)
	p.terminate(t)

	file := filepath.Join(t.TempDir(), "x.backup")
	code, _, why := output(t, nil, "backup", file, "--data", data)
	require.Zero(t, code, why)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, os.Chmod(data, 0o755))
	require.NoError(t, os.Chmod(filepath.Join(data, "trunkline.db"), 0o644))
	p, _ = start(t, nil, "--data", data)
	for path, mode := range map[string]string{data: "0755", filepath.Join(data, "trunkline.db"): "0644"} {
		line := fmt.Sprintf("path=%s mode=%s", path, mode)
		p.stderr.until(t, line)
	}
	got := examined(t, []string{"TRUNKLINE_DATA=" + data}, 0)["private"]
	require.Equal(t, finding{"private", stateWarn, "other users of this machine can reach " + data + " (0755)", "chmod 0700 " + data}, got[0])
}
