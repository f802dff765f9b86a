package open

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	pgConns = 16
	// pgLifetime is how long a connection is used. A new one sees what has changed:
	// addresses, passwords, settings of the database.
	pgLifetime = 30 * time.Minute
	// pgConnectTimeout is how long connecting to a host may take, in seconds, where the
	// URL has no connect_timeout.
	pgConnectTimeout = "5"
	// pgConnectTimeoutOfMany is that time if there is another host to try: a request
	// waits for five seconds, and the first may hang.
	pgConnectTimeoutOfMany = "2"
)

func openPostgres(ctx context.Context, rawURL string) (*sqlx.DB, error) {
	dsn, err := postgresDSN(rawURL)
	if err != nil {
		return nil, err
	}
	to, err := newConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("opening PostgreSQL: %w", err)
	}
	db := sqlx.NewDb(sql.OpenDB(to), "postgres")
	db.SetMaxOpenConns(pgConns)
	db.SetMaxIdleConns(pgConns)
	db.SetConnMaxLifetime(pgLifetime)
	if db, err = ready(ctx, db); err != nil {
		return nil, err
	}
	return db, database.Attach(ctx, db, func(ctx context.Context, notify func(string)) { listen(ctx, dsn, notify) })
}

// postgresDSN returns the URL with the settings that this module needs, and with
// defaults for others.
func postgresDSN(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", fmt.Errorf("postgres URL is malformed") // the parser's words would quote the password
	}
	q := u.Query()
	timeout := pgConnectTimeout
	if strings.Contains(u.Host+q.Get("host"), ",") {
		timeout = pgConnectTimeoutOfMany
	}
	for name, value := range map[string]string{
		"sslmode":         sslMode(u, q),
		"connect_timeout": timeout,
		// A standby cannot be written, and what it answers may be old.
		"target_session_attrs": string(pq.TargetSessionAttrsPrimary),
	} {
		if !q.Has(name) {
			q.Set(name, value)
		}
	}
	q.Set("binary_parameters", "yes") // one round trip per statement instead of two
	u.RawQuery = q.Encode()
	return u.String(), nil
}

func sslMode(u *url.URL, q url.Values) string {
	host := u.Hostname()
	if h := q.Get("host"); h != "" {
		host = h
	}
	switch {
	case host == "", host == "localhost", host == "127.0.0.1", host == "::1", strings.HasPrefix(host, "/"):
		return "disable"
	}
	return "require"
}

// connector opens connections of lib/pq that end when they cannot be relied on. See
// [conn].
type connector struct{ pq *pq.Connector }

func newConnector(dsn string) (*connector, error) {
	to, err := pq.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	to.Dialer(&dialer{})
	return &connector{to}, nil
}

// Connect implements [driver.Connector].
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	var s *socket
	opened, err := c.pq.Connect(context.WithValue(ctx, socketKey{}, &s))
	if err != nil {
		return nil, otherServer(err)
	}
	return &conn{pqConn: opened.(pqConn), socket: s}, nil
}

// otherServer returns a [database.ErrUnwritable] if err says that the server is not
// the one that target_session_attrs asks for. lib/pq has no type for such errors.
func otherServer(err error) error {
	for _, text := range []string{"hot standby mode", "session is read-only"} {
		if strings.Contains(err.Error(), text) {
			return &refusedError{err}
		}
	}
	return err
}

// refusedError is a database.ErrUnwritable with the text of the driver.
type refusedError struct{ error }

func (e *refusedError) Unwrap() []error { return []error{database.ErrUnwritable, e.error} }

// Driver implements [driver.Connector].
func (c *connector) Driver() driver.Driver { return c.pq.Driver() }

// listenPing is how often the connection of a listener is asked whether it works.
const listenPing = 10 * time.Second

// listen receives PostgreSQL notifications until ctx ends. Notifications may be
// missed before it listens and after a lost connection, for which the driver sends
// nil.
func listen(ctx context.Context, dsn string, notify func(string)) {
	l := pq.NewDialListener(&dialer{subscribed: true}, dsn, 100*time.Millisecond, 10*time.Second, nil)
	// Listen waits for a connection without a limit; Close ends it.
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	if err := l.Listen(database.Channel); err != nil {
		return // the pollers continue
	}
	notify("")
	ping := time.NewTicker(listenPing)
	defer ping.Stop()
	for {
		select {
		case n, ok := <-l.Notify:
			switch {
			case !ok: // closed because ctx ended
				return
			case n == nil:
				notify("")
			default:
				notify(n.Extra)
			}
		case <-ping.C:
			go l.Ping() //nolint:errcheck // without an answer the connection ends, see [dialer]
		case <-ctx.Done():
			return
		}
	}
}
