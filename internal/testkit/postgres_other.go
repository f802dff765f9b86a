//go:build !linux

package testkit

import "testing"

// Server is a PostgreSQL server of a test. It is available only on Linux.
type Server struct{}

// PostgresServer skips the test: see [Server].
func PostgresServer(t testing.TB, _ PostgresOptions) *Server {
	t.Helper()
	Missing(t, "the tests start PostgreSQL only on Linux")
	return nil
}

func shared(t testing.TB) *Server { return PostgresServer(t, PostgresOptions{}) }

// Database is never called: there is no server.
func (*Server) Database(testing.TB) string { return "" }

// Stop is never called: there is no server.
func (*Server) Stop(testing.TB) {}

// Kill is never called: there is no server.
func (*Server) Kill(testing.TB) {}

// Start is never called: there is no server.
func (*Server) Start(testing.TB) {}

// Standby is never called: there is no server.
func (*Server) Standby(testing.TB) *Server { return nil }

// RequireStandby is never called: there is no server.
func (*Server) RequireStandby(testing.TB) {}

// Promote is never called: there is no server.
func (*Server) Promote(testing.TB) {}

// Freeze is never called: there is no server.
func (*Server) Freeze(testing.TB) (thaw func()) { return nil }

// Socket is never called: there is no server.
func (*Server) Socket() string { return "" }

// Run is never called: there is no server.
func (*Server) Run(testing.TB, string) {}

// Dir is never called: there is no server.
func (*Server) Dir() string { return "" }

// Recover is never called: there is no server.
func (*Server) Recover(testing.TB, string, []string) *Server { return nil }

// At is never called: there is no server.
func (*Server) At(testing.TB, string) string { return "" }
