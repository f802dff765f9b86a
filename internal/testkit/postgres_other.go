//go:build !linux

package testkit

import "testing"

// Server is a PostgreSQL server of a test. It is available only on Linux.
type Server struct{}

// PostgresServer skips the test: see [Server].
func PostgresServer(t testing.TB, _ PostgresOptions) *Server {
	t.Helper()
	missing(t, "the tests start PostgreSQL only on Linux")
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

// Freeze is never called: there is no server.
func (*Server) Freeze(testing.TB) (thaw func()) { return nil }

// Socket is never called: there is no server.
func (*Server) Socket() string { return "" }
