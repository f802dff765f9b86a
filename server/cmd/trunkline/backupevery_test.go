package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/backup/destination"
)

// madeBackups counts the backups that [repeated] makes in a folder.
type madeBackups struct {
	dir    string
	opened int
	away   error // of the folder
	made   []time.Time
	err    error // of the next backup
	log    strings.Builder
}

func newRepeated(t *testing.T) *madeBackups {
	t.Helper()
	return &madeBackups{dir: t.TempDir()}
}

func (r *madeBackups) open(ctx context.Context) (destination.Destination, error) {
	r.opened++
	if r.away != nil {
		return nil, r.away
	}
	return destination.Open(ctx, r.dir)
}

func (r *madeBackups) backup(context.Context, destination.Destination) error {
	r.made = append(r.made, time.Now())
	if r.err != nil {
		return r.err
	}
	return os.WriteFile(filepath.Join(r.dir, destination.Name(time.Now())), nil, 0o600)
}

// begin begins to make backups once a day, until stop is called.
func (r *madeBackups) run(ctx context.Context) error {
	return (&repeated{every: 24 * time.Hour, open: r.open, backup: r.backup, log: &r.log}).run(ctx)
}

func (r *madeBackups) begin(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.run(ctx) }()
	synctest.Wait()
	return func() {
		cancel()
		require.NoError(t, <-ended)
	}
}

func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestRepeatBackups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRepeated(t)
		stop := r.begin(t)
		require.Len(t, r.made, 1, "there was none")
		after(24*time.Hour - 2*time.Second) // names have seconds
		require.Len(t, r.made, 1)
		after(2 * time.Second)
		require.Len(t, r.made, 2)
		after(10 * time.Hour)
		stop()
		after(10 * time.Hour)

		stop = r.begin(t)
		require.Len(t, r.made, 2, "the newest is not old enough, whoever wrote it")
		after(4 * time.Hour)
		require.Len(t, r.made, 3)
		stop()
		require.Empty(t, r.log.String())
	})
}

func TestRepeatBackups_Fails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRepeated(t)
		r.err = errors.New("the database\ncannot be reached")
		defer r.begin(t)()
		after(14 * time.Minute)
		require.Len(t, r.made, 3, "it is tried again every five minutes")
		require.Equal(t, 3, strings.Count(r.log.String(), "\n"))
		require.Contains(t, r.log.String(), "2000-01-01T00:00:00Z: the backup failed, it is tried again in 5m0s: the database cannot be reached\n")
		r.err = nil
		after(time.Hour)
		require.Len(t, r.made, 4)
	})
}

// TestRepeatBackups_Away waits for a bucket that cannot be reached at first, and opens it
// once.
func TestRepeatBackups_Away(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRepeated(t)
		r.away = &passingError{"--to: it cannot be used: connection refused", unreachable}
		defer r.begin(t)()
		after(14 * time.Minute)
		require.Empty(t, r.made)
		require.Equal(t, 3, r.opened)
		require.Contains(t, r.log.String(), "2000-01-01T00:05:00Z: the backup failed, it is tried again in 5m0s: --to: it cannot be used: connection refused\n")
		r.away = nil
		after(25 * time.Hour)
		require.Len(t, r.made, 2)
		require.Equal(t, 4, r.opened)
	})
}

// TestRepeatBackups_Setting ends at once, as it would without --every.
func TestRepeatBackups_Setting(t *testing.T) {
	t.Parallel()
	r := newRepeated(t)
	r.err = &settingError{"--secret", "is wrong"}
	require.ErrorIs(t, r.run(t.Context()), r.err)
	require.Empty(t, r.log.String())
}

// TestRepeatBackups_Future does not wait for a backup that a wrong clock has named.
func TestRepeatBackups_Future(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRepeated(t)
		require.NoError(t, os.WriteFile(filepath.Join(r.dir, destination.Name(time.Now().AddDate(1, 0, 0))), nil, 0o600))
		defer r.begin(t)()
		require.Len(t, r.made, 1)
		after(24 * time.Hour)
		require.Len(t, r.made, 2)
	})
}
