package testkit

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// errFailing is what the database answers to a statement that fails.
var errFailing = errors.New("the test fails this statement")

// FailEach calls do with the first statement failing, then with the second, and so
// on, until none is left and do succeeds. Each other call must return an error, and
// leave nothing behind that stops the next one. Statements that contain one of the
// optional words may fail unseen. Notifications of PostgreSQL do not fail: they come
// after the commit. Nothing else may use the database meanwhile.
func (a *Asked) FailEach(t testing.TB, do func() error, optional ...string) {
	t.Helper()
	defer a.failing.Store(0)
	for n := int64(1); ; n++ {
		a.failed.Store(nil)
		a.failing.Store(n)
		err := do()
		text := a.failed.Load()
		if text == nil {
			require.NoError(t, err)
			require.Greater(t, n, int64(1), "it asks the database nothing")
			return
		}
		if err == nil && containsAny(*text, optional) {
			continue
		}
		require.Errorf(t, err, "a statement fails unseen: %s", *text)
	}
}

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// fail returns the error of the statement that must fail.
func (a *Asked) fail(text string) error {
	if a.failing.Load() == 0 || strings.Contains(text, "pg_notify(") || a.failing.Add(-1) != 0 {
		return nil
	}
	a.failed.Store(&text)
	return errFailing
}

// beforeStatement is what [Asked.Before] has to do.
type beforeStatement struct {
	left atomic.Int64
	do   func()
}

// Before has do called before the n-th statement from now on. It returns whether that
// has happened, which ends it.
func (a *Asked) Before(n int64, do func()) (reached func() bool) {
	b := &beforeStatement{do: do}
	b.left.Store(n)
	a.before.Store(b)
	return func() bool {
		a.before.CompareAndSwap(b, nil)
		return b.left.Load() <= 0
	}
}

// reach counts a statement for [Asked.Before].
func (a *Asked) reach() {
	if b := a.before.Load(); b != nil && b.left.Add(-1) == 0 {
		b.do()
	}
}
