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

// repeated counts the backups that [repeat] makes in a folder.
type repeated struct {
	dir   string
	there destination.Destination
	made  []time.Time
	err   error // of the next backup
	log   strings.Builder
}

func newRepeated(t *testing.T) *repeated {
	t.Helper()
	dir := t.TempDir()
	there, err := destination.Open(t.Context(), dir)
	require.NoError(t, err)
	return &repeated{dir: dir, there: there}
}

func (r *repeated) backup(context.Context) error {
	r.made = append(r.made, time.Now())
	if r.err != nil {
		return r.err
	}
	return os.WriteFile(filepath.Join(r.dir, destination.Name(time.Now())), nil, 0o600)
}

// begin begins to make backups once a day, until stop is called.
func (r *repeated) begin(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- repeat(ctx, 24*time.Hour, r.there, r.backup, &r.log) }()
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

// TestRepeatBackups_Setting ends at once, as it would without --every.
func TestRepeatBackups_Setting(t *testing.T) {
	t.Parallel()
	r := newRepeated(t)
	r.err = &settingError{"--secret", "is wrong"}
	require.ErrorIs(t, repeat(t.Context(), time.Hour, r.there, r.backup, &r.log), r.err)
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
