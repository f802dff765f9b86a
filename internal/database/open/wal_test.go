package open_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database/open"
)

const (
	walStart = 32        // size of the header of a log
	walFrame = 24 + 4096 // size of a frame
)

// commit stores rows, each in a transaction of its own.
func commit(t *testing.T, db *sqlx.DB, rows int) {
	t.Helper()
	for range rows {
		_, err := db.ExecContext(t.Context(), `INSERT INTO word (text) VALUES ('hello')`)
		require.NoError(t, err)
	}
}

// killed is the path of a database with rows, as it is after its process was killed:
// all of them are in the log. Before that the log was used for older rows.
func killed(t *testing.T, older, rows int, query string) string {
	t.Helper()
	dir := t.TempDir()
	db, err := open.Open(t.Context(), "sqlite://"+filepath.Join(dir, "live.db")+query)
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // it is over
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(t.Context(), `CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT)`)
	require.NoError(t, err)
	commit(t, db, older)
	var busy, log, done int
	require.NoError(t, db.QueryRowContext(t.Context(), `PRAGMA wal_checkpoint(RESTART)`).Scan(&busy, &log, &done))
	require.Zero(t, busy)
	commit(t, db, rows)
	path := filepath.Join(dir, "killed.db")
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(filepath.Join(dir, "live.db"+end))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path+end, b, 0o600))
	}
	return path
}

// count opens a database and returns how many rows it has.
func count(t *testing.T, path, query string) int {
	t.Helper()
	db, err := open.Open(t.Context(), "sqlite://"+path+query)
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // it is over
	var n int
	require.NoError(t, db.GetContext(t.Context(), &n, `SELECT count(*) FROM word`))
	return n
}

// change changes the log of a database.
func change(t *testing.T, path string, fn func(log []byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+"-wal", fn(b), 0o600))
}

// flip changes 64 bytes of the log of a database.
func flip(t *testing.T, path string, at int) {
	t.Helper()
	change(t, path, func(log []byte) []byte { return garble(log, at) })
}

// garble changes 64 bytes of a log.
func garble(log []byte, at int) []byte {
	for i := range 64 {
		log[at+i] ^= 0xff
	}
	return log
}

// TestOpen_DamagedWAL changes each part of a log: a database whose committed
// transactions would be lost is not opened.
func TestOpen_DamagedWAL(t *testing.T) {
	t.Parallel()
	const rows = 10 // of a frame each
	frame := func(n int) int { return walStart + n*walFrame }
	for name, at := range map[string]int{
		"in the header": 4, "in the checksum of the header": 26, "in the first frame": frame(0) + 1000,
		"in the header of a frame": frame(4), "in the salts of a frame": frame(4) + 8, "in the checksum of a frame": frame(4) + 17,
		"at the border of two frames": frame(5) - 20, "before the last two": frame(rows-3) + 100,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := killed(t, 20, rows, "")
			flip(t, path, at)
			_, err := open.Open(t.Context(), "sqlite://"+path)
			require.ErrorIs(t, err, open.ErrDamaged)
			require.ErrorContains(t, err, path+"-wal")
			_, err = open.Open(t.Context(), "sqlite://"+path)
			require.ErrorIs(t, err, open.ErrDamaged, "the first refusal changed the log")
			require.Less(t, count(t, path, "?damaged_wal=drop"), 20+rows)
			count(t, path, "") // the damage is gone
		})
	}
}

// TestOpen_SoundWAL opens databases after what is no damage.
func TestOpen_SoundWAL(t *testing.T) {
	t.Parallel()
	const older, rows = 20, 10
	last := walStart + (rows-1)*walFrame
	for name, c := range map[string]struct {
		change func(log []byte) []byte
		want   int
	}{
		"nothing happened":               {func(log []byte) []byte { return log }, older + rows},
		"the last commit was torn":       {func(log []byte) []byte { return garble(log, last+100) }, older + rows - 1},
		"the one before it was torn too": {func(log []byte) []byte { return garble(log, last-1000) }, older + rows - 2},
		"the log ends within a frame":    {func(log []byte) []byte { return log[:last+77] }, older + rows - 1},
		"the log ends within its header": {func(log []byte) []byte { return log[:20] }, older},
		"the log is empty":               {func([]byte) []byte { return nil }, older},
		"the log is zero":                {func(log []byte) []byte { clear(log); return log }, older},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := killed(t, older, rows, "")
			change(t, path, c.change)
			require.Equal(t, c.want, count(t, path, ""))
		})
	}
	t.Run("a power cut without synchronous commits", func(t *testing.T) {
		t.Parallel()
		path := killed(t, older, rows, "?synchronous=normal")
		flip(t, path, walStart+100)
		require.Equal(t, older, count(t, path, "?synchronous=normal"))
	})
	t.Run("another process writes", func(t *testing.T) {
		t.Parallel()
		path := killed(t, older, rows, "")
		db, err := open.Open(t.Context(), "sqlite://"+path)
		require.NoError(t, err)
		defer db.Close() //nolint:errcheck // it is over
		done := make(chan error, 1)
		go func() {
			for range 300 {
				_, err := db.ExecContext(t.Context(), `INSERT INTO word (text) VALUES ('hello'); PRAGMA wal_checkpoint(RESTART)`)
				if err != nil {
					done <- fmt.Errorf("inserting: %w", err)
					return
				}
			}
			done <- nil
		}()
		for writing := true; writing; {
			select {
			case err := <-done:
				require.NoError(t, err)
				writing = false
			default:
				count(t, path, "")
			}
		}
	})
}

// TestOpen_WALOrder reads a log whose checksums are of big-endian words.
func TestOpen_WALOrder(t *testing.T) {
	t.Parallel()
	path := killed(t, 3, 5, "")
	change(t, path, bigEndian)
	require.Equal(t, 8, count(t, path, ""))
	path = killed(t, 3, 5, "")
	change(t, path, bigEndian)
	flip(t, path, walStart+1000)
	_, err := open.Open(t.Context(), "sqlite://"+path)
	require.ErrorIs(t, err, open.ErrDamaged)
}

// bigEndian writes a log as a machine with big-endian words would.
func bigEndian(log []byte) []byte {
	binary.BigEndian.PutUint32(log, 0x377f0683)
	var a, b uint32
	sum := func(part []byte) {
		for i := 0; i < len(part); i += 8 {
			a += binary.BigEndian.Uint32(part[i:]) + b
			b += binary.BigEndian.Uint32(part[i+4:]) + a
		}
	}
	store := func(to []byte) {
		binary.BigEndian.PutUint32(to, a)
		binary.BigEndian.PutUint32(to[4:], b)
	}
	sum(log[:24])
	store(log[24:])
	salts := log[16:24]
	for at := walStart; at+walFrame <= len(log) && bytes.Equal(log[at+8:at+16], salts); at += walFrame {
		sum(log[at : at+8])
		sum(log[at+24 : at+walFrame])
		store(log[at+16:])
	}
	return log
}
