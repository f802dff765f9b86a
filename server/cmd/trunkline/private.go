package main

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// wide is a file or folder to which users other than its owner have access.
type wide struct {
	path string
	mode fs.FileMode
}

// wideOf lists the server's files on this machine to which other users have access.
// Windows has no such modes.
func wideOf(set settings) []wide {
	if runtime.GOOS == "windows" {
		return nil
	}
	db := filepath.Join(set.Data, "trunkline.db")
	if url := string(set.DatabaseURL); isSQLite(url) {
		db = sqlitePath(url)
	}
	names := []string{set.Data, filepath.Join(set.Data, "secret"), db, db + "-wal", db + "-shm", filepath.Join(set.Data, "media")}
	if set.Media != "" && !strings.HasPrefix(set.Media, "s3://") {
		names = append(names, set.Media)
	}
	var out []wide
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o077 != 0 {
			out = append(out, wide{name, info.Mode().Perm()})
		}
	}
	return out
}

// warnWide logs the server's files to which other users have access.
func warnWide(ctx context.Context, set settings, log *slog.Logger) {
	for _, w := range wideOf(set) {
		log.WarnContext(ctx, "other users of this machine can read the server's private files",
			slog.String("path", w.path), slog.String("mode", fmt.Sprintf("%04o", w.mode)))
	}
}

// private checks the access to the server's files.
func (d *doctor) private() {
	const check = "private"
	found := wideOf(d.set)
	for _, w := range found {
		mode := "0600"
		if info, err := os.Stat(w.path); err == nil && info.IsDir() {
			mode = "0700"
		}
		d.warn(check, fmt.Sprintf("other users of this machine can reach %s (%04o)", w.path, w.mode), "chmod "+mode+" "+w.path)
	}
	if len(found) == 0 {
		d.ok(check, "only the server's user has access to its files")
	}
}
