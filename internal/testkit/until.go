package testkit

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// untilTimeout bounds each wait of a test for what must happen. No test passes only
// because it is long: it says when to give up.
const untilTimeout = 2 * time.Minute

// Until waits until done returns true, which it asks now and after each signal. what
// says in the failure what did not happen: a text, or a format and its arguments.
func Until(t testing.TB, signals []*testsignal.Signal, done func() bool, what ...any) {
	t.Helper()
	late := time.After(untilTimeout)
	for {
		wakes := []reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(late)}}
		for _, s := range signals {
			wakes = append(wakes, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(s.Next())})
		}
		if done() {
			return
		}
		if chosen, _, _ := reflect.Select(wakes); chosen == 0 {
			require.Fail(t, fmt.Sprintf("it did not happen within %v", untilTimeout), what...)
		}
	}
}

// UntilEqual waits until got returns want, as [Until] does.
func UntilEqual[T any](t testing.TB, signals []*testsignal.Signal, want T, got func() T) {
	t.Helper()
	var last T
	defer func() {
		if t.Failed() {
			require.Equal(t, want, last)
		}
	}()
	Until(t, signals, func() bool {
		last = got()
		return assert.ObjectsAreEqual(want, last)
	})
}

// UntilCommitted waits until done returns true, which it asks now and after each
// commit of this process on db. See [Until].
func UntilCommitted(t testing.TB, db *sqlx.DB, done func() bool, what ...any) {
	t.Helper()
	Until(t, []*testsignal.Signal{CommitsOf(t, db)}, done, what...)
}

// CommitsOf returns the signal of commits of this process on db.
func CommitsOf(t testing.TB, db *sqlx.DB) *testsignal.Signal {
	t.Helper()
	d, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	return &d.Commits
}
