//go:build !linux

package testkit

import "testing"

// Pooler is a PgBouncer of a test. It is available only on Linux.
type Pooler struct{ URL string }

// StartPooler skips the test: see [Pooler].
func StartPooler(t testing.TB, _, _ string) *Pooler {
	t.Helper()
	Missing(t, "the tests start PgBouncer only on Linux")
	return nil
}

// Start is never called: there is no pooler.
func (*Pooler) Start(testing.TB) {}

// Stop is never called: there is no pooler.
func (*Pooler) Stop(testing.TB) {}
