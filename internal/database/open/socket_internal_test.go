package open

import (
	"context"
	"net"
	"net/url"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
)

// connected returns a socket, and what is at its other end.
func connected(t *testing.T) (*socket, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return &socket{Conn: near}, far
}

// TestSocket_Silence has a server that does not answer, one that answers late, and
// one that takes nothing.
func TestSocket_Silence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, far := connected(t)
		b, began := make([]byte, 1), time.Now()
		s.begin(t.Context(), database.Silence)
		_, err := s.Read(b)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, database.Silence, time.Since(began))

		began = time.Now()
		s.begin(database.Chore(t.Context()), database.SilenceOf(database.Chore(t.Context())))
		go func() {
			<-time.After(4 * time.Minute)
			_, _ = far.Write([]byte("x"))
		}()
		_, err = s.Read(b)
		require.NoError(t, err)
		require.Equal(t, 4*time.Minute, time.Since(began))

		began = time.Now()
		s.begin(t.Context(), database.Silence)
		_, err = s.Write(b)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, database.Silence, time.Since(began))
	})
}

// TestSocket_Context ends a context: what is under way fails a moment later. The
// next statement has all its time.
func TestSocket_Context(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, far := connected(t)
		b, began := make([]byte, 1), time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		s.begin(ctx, database.Silence)
		_, err := s.Read(b)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, 2*time.Second+grace, time.Since(began))
		_, err = s.Write(b)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "its cancellation cannot be sent either")

		ended, cancel := context.WithCancel(t.Context())
		s.begin(ended, database.Silence)
		s.begin(t.Context(), database.Silence)
		cancel() // of a statement that is complete
		go func() {
			<-time.After(5 * time.Second)
			_, _ = far.Write([]byte("x"))
		}()
		_, err = s.Read(b)
		require.NoError(t, err)
	})
}

// TestSocket_Connect has a driver that sets a deadline of its own while it connects.
func TestSocket_Connect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := connected(t)
		s.limit = database.Silence
		b, began := make([]byte, 1), time.Now()
		require.NoError(t, s.SetDeadline(began.Add(time.Second)))
		_, err := s.Read(b)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))

		began = time.Now()
		require.NoError(t, s.SetDeadline(time.Time{}))
		_, err = s.Read(b)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, database.Silence, time.Since(began))
	})
}

// TestPostgresDSN keeps what a URL says, and adds the rest.
func TestPostgresDSN(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]url.Values{
		"postgres://u@/x": {"sslmode": {"disable"}, "connect_timeout": {"5"}, "target_session_attrs": {"primary"}, "binary_parameters": {"yes"}},
		"postgres://u@/x?host=one,two&sslmode=require": {"host": {"one,two"}, "sslmode": {"require"}, "connect_timeout": {"2"}, "target_session_attrs": {"primary"}, "binary_parameters": {"yes"}},
		"postgres://u@localhost:5432,127.0.0.1:5433/x": {
			"sslmode": {"disable"}, "connect_timeout": {"2"}, "target_session_attrs": {"primary"}, "binary_parameters": {"yes"},
		},
		"postgres://u@localhost,one:5433/x": {
			"sslmode": {"require"}, "connect_timeout": {"2"}, "target_session_attrs": {"primary"}, "binary_parameters": {"yes"},
		},
		"postgres://u@[::1]:5433/x": {
			"sslmode": {"disable"}, "connect_timeout": {"5"}, "target_session_attrs": {"primary"}, "binary_parameters": {"yes"},
		},
		"postgres://u@/x?host=/run/postgresql,one": {
			"host": {"/run/postgresql,one"}, "sslmode": {"require"}, "connect_timeout": {"2"}, "target_session_attrs": {"primary"}, "binary_parameters": {"yes"},
		},
		"postgres://u@one,two:5433/x?target_session_attrs=any&connect_timeout=2&sslmode=verify-full": {
			"sslmode": {"verify-full"}, "connect_timeout": {"2"}, "target_session_attrs": {"any"}, "binary_parameters": {"yes"},
		},
	} {
		dsn, err := postgresDSN(raw)
		require.NoError(t, err)
		u, err := url.Parse(dsn)
		require.NoError(t, err)
		require.Equal(t, want, u.Query())
	}
}
