package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/trunklinehq/trunkline/server/backup"
)

const (
	leastFree  = 256 << 20 // free bytes below which a server soon refuses to write
	littleFree = 2 << 30
	slowDisk   = 50 * time.Millisecond // time to make 4 KiB durable
	farClock   = 2 * time.Second
	leastPG    = 140000 // in PostgreSQL's numbering: 14
)

func (d *doctor) program() {
	d.ok("program", "trunkline %s, %s, %s/%s", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// folder checks the data folder and its disk.
func (d *doctor) folder() {
	if !d.room("data", d.set.Data, "--data") {
		return
	}
	if files := filepath.Join(d.set.Data, "media"); d.set.Media == "" {
		if _, err := writable(files); err != nil {
			d.noFolder("media", files, "--media", err)
		}
	}
	const check = "disk"
	elapsed, err := durable(d.set.Data)
	switch {
	case err != nil:
		d.bad(check, "writes cannot be made durable: "+cause(err), "check the disk and its file system")
	case elapsed > slowDisk:
		d.warn(check, fmt.Sprintf("a write is durable only after %s", elapsed.Round(time.Millisecond)), "every message waits for that: use a disk with a battery or flash")
	default:
		d.ok(check, "a write is durable after %s", elapsed.Round(10*time.Microsecond))
	}
}

// media checks the place of the files of messages, unless that is the data folder.
func (d *doctor) media(ctx context.Context) {
	const check = "media"
	switch {
	case d.set.Media == "":
	case strings.HasPrefix(d.set.Media, "s3://"):
		if _, err := openMedia(ctx, d.set); err != nil {
			d.bad(check, oneLine(strings.TrimPrefix(err.Error(), "--media: ")), "correct the address, the keys (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or their permissions")
			return
		}
		d.ok(check, "the bucket exists")
	default:
		d.room(check, d.set.Media, "--media")
	}
}

// room checks a folder that a flag names. It reports whether the folder exists and
// can be written.
func (d *doctor) room(check, folder, flag string) bool {
	exists, err := writable(folder)
	switch {
	case err != nil:
		d.noFolder(check, folder, flag, err)
		return false
	case !exists:
		d.ok(check, "the folder %s is created at the first start", folder)
		return false
	}
	free, err := freeBytes(folder)
	if err != nil {
		d.warn(check, "the free space is unknown: "+cause(err), "check it yourself")
		return true
	}
	d.free(check, folder, free)
	return true
}

// noFolder reports that a server cannot use a folder that a flag names.
func (d *doctor) noFolder(check, folder, flag string, err error) {
	d.bad(check, noFolder(folder, err), "make the user of the server its owner, or set another "+flag)
}

// writable reports whether a folder exists. The error is why a server can neither write
// to it nor create it.
func writable(folder string) (exists bool, err error) {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, creatable(folder)
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, &fs.PathError{Op: "open", Path: folder, Err: syscall.ENOTDIR}
	}
	file, err := os.CreateTemp(folder, ".doctor-*")
	if err != nil {
		return true, err
	}
	return true, errors.Join(file.Close(), os.Remove(file.Name()))
}

// creatable returns why a folder cannot be created, after it has created another one in
// its place and removed it.
func creatable(folder string) error {
	above := folder // the nearest that exists: it may be a link to nothing
	for {
		if _, err := os.Lstat(above); err == nil || filepath.Dir(above) == above {
			break
		}
		above = filepath.Dir(above)
	}
	made, err := os.MkdirTemp(above, ".doctor-*")
	if err != nil {
		return err
	}
	return os.Remove(made)
}

// free judges the number of bytes that are free.
func (d *doctor) free(check, folder string, bytes uint64) {
	text := fmt.Sprintf("%d MiB are free in %s", bytes>>20, folder)
	switch {
	case bytes < leastFree:
		d.bad(check, text, "free some space, or move the folder")
	case bytes < littleFree:
		d.warn(check, text, "free some space, or limit how long messages are kept: --retention-messages")
	default:
		d.ok(check, "%s", text)
	}
}

// durable returns the time to make a small write durable: the median of five.
func durable(folder string) (time.Duration, error) {
	file, err := os.CreateTemp(folder, ".doctor-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // a temporary file
	defer file.Close()           //nolint:errcheck // its content does not matter
	var elapsed []time.Duration
	for range 5 {
		begin := time.Now()
		if _, err := file.Write(make([]byte, 4096)); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		elapsed = append(elapsed, time.Since(begin))
	}
	slices.Sort(elapsed)
	return elapsed[2], nil
}

// database connects to the database, and checks the settings of a PostgreSQL.
func (d *doctor) database(ctx context.Context) {
	const check = "database"
	if url := string(d.set.DatabaseURL); isSQLite(url) {
		folder := filepath.Dir(sqlitePath(url))
		exists, err := writable(folder)
		if err == nil && !exists {
			err = syscall.ENOENT // nothing creates it
		}
		if err != nil {
			d.noFolder(check, folder, "--database-url", err)
			return
		}
	}
	db, err := openExisting(ctx, d.set)
	if err != nil {
		if wrong, ok := errors.AsType[*settingError](err); ok && strings.Contains(wrong.why, "the database does not exist") {
			d.warn(check, "the database does not exist yet", "it is created at the first start; if it should exist, set another --data")
			return
		}
		if _, ok := errors.AsType[*damagedError](err); ok {
			d.bad("content", oneLine(err.Error()), restoreCure)
			return
		}
		d.bad(check, oneLine(err.Error()), "start it, or correct --database-url")
		return
	}
	d.db = db
	if db.DriverName() == "sqlite" {
		d.ok(check, "SQLite")
		return
	}
	d.postgres(ctx)
}

func (d *doctor) postgres(ctx context.Context) {
	const check = "database"
	var pg struct {
		Number int    `db:"number"`
		Name   string `db:"name"`
		Fsync  string `db:"fsync"`
		Commit string `db:"commit"`
		Now    int64  `db:"now"`
	}
	begin, at := time.Now(), d.now()
	if err := d.db.GetContext(ctx, &pg, `SELECT CAST(current_setting('server_version_num') AS INTEGER) AS number, current_setting('server_version') AS name,
		current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
		CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT) AS now`); err != nil {
		d.bad(check, "it does not answer: "+oneLine(err.Error()), "check its log")
		return
	}
	elapsed := time.Since(begin)
	switch {
	case pg.Number < leastPG:
		d.bad(check, "PostgreSQL "+pg.Name+" is too old", "use 14 or later")
	case pg.Fsync == "off" || pg.Commit == "off":
		d.warn(check, fmt.Sprintf("PostgreSQL %s, fsync %s, synchronous_commit %s: a power failure loses acknowledged data", pg.Name, pg.Fsync, pg.Commit), "switch both on")
	default:
		d.ok(check, "PostgreSQL %s, which answers within %s", pg.Name, elapsed.Round(10*time.Microsecond))
	}
	d.clock("the database", time.UnixMicro(pg.Now), at.Add(elapsed/2))
}

// clock compares another clock with the local one at the same moment.
func (d *doctor) clock(whose string, theirs, ours time.Time) {
	const check = "clock"
	off := theirs.Sub(ours).Abs().Round(time.Millisecond)
	if off > farClock {
		d.bad(check, fmt.Sprintf("the clocks of this machine and of %s differ by %s", whose, off), "synchronise them with NTP")
		return
	}
	d.ok(check, "the clock of %s differs by %s", whose, off)
}

// written compares the clock with the time of the last write of a server: after a
// clock was set back, new rows would be ordered among old ones.
func (d *doctor) written(ctx context.Context) {
	const check = "clock"
	var last int64
	if err := d.db.GetContext(ctx, &last, `SELECT COALESCE(MAX(at_us), 0) FROM server_probe`); err != nil {
		d.bad(check, oneLine(err.Error()), "check the database")
		return
	}
	if ahead := time.UnixMicro(last).Sub(d.now()); ahead > farClock {
		d.bad(check, fmt.Sprintf("the last write to the database is %s in the future", ahead.Round(time.Millisecond)), "the clock of this machine, or of the one that wrote, is wrong: synchronise it with NTP")
		return
	}
	d.ok(check, "it is not behind the last write to the database")
}

// tables compares the versions of the tables with those of this program. It reports
// whether they are the same.
func (d *doctor) tables(ctx context.Context) bool {
	const check = "tables"
	have, err := backup.VersionsOf(ctx, d.db)
	var known map[string]int64
	if err == nil {
		known, err = backup.VersionsAfter(ctx, migrate)
	}
	if err != nil {
		d.bad(check, oneLine(err.Error()), "check the database")
		return false
	}
	older, newer := backup.Compare(have, known)
	switch {
	case len(newer) > 0:
		d.bad(check, "newer than this program: the tables of "+strings.Join(newer, ", "), "use the version that wrote them, or a later one")
	case len(have) == 0:
		d.ok(check, "there are no tables yet: they are created at the first start")
	case len(older) > 0:
		d.warn(check, "older than this program: the tables of "+strings.Join(older, ", "), "take a backup; the next start updates them")
	default:
		d.ok(check, "of the same version as this program")
		return true
	}
	return false
}

// secret compares the secret with that of the database.
func (d *doctor) secret(ctx context.Context) {
	const check = "secret"
	have, err := secretOf(d.set)
	if err != nil {
		d.bad(check, "there is no secret, but the database was written with one", "set it with --secret, or put it into the file secret in the data folder")
		return
	}
	matches, err := secretMatches(ctx, d.db, d.set)
	switch {
	case err != nil:
		d.bad(check, oneLine(err.Error()), "check the database")
	case !matches:
		d.bad(check, "the database was written with another secret", "set that secret, or both, with the new one first")
	default:
		d.secrets = list(have)
		d.ok(check, "it decrypts the data of the database")
	}
}
