package open

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	// DefaultConns is how many connections a handle has to PostgreSQL at most: eight
	// processes fit into the 100 that PostgreSQL allows by default.
	DefaultConns = 10
	// MinConns is the fewest that work: some work needs two at a time.
	MinConns = 4
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

// ErrPooler means that a URL leads to a pooler that gives each transaction another
// connection, as PgBouncer does with pool_mode=transaction, without [Options].ListenURL.
var ErrPooler = errors.New("a pooler shares the connections of PostgreSQL between transactions (pool_mode=transaction)")

// ErrListener means that notifications do not arrive at [Options].ListenURL. It must lead
// to the same database, without a pooler that shares connections.
var ErrListener = errors.New("notifications do not arrive")

// listenWithin is how long that may take when a database is opened.
const listenWithin = 5 * time.Second

func openPostgres(ctx context.Context, rawURL string, opts Options) (*sqlx.DB, error) {
	dsn, err := postgresDSN(rawURL)
	if err != nil {
		return nil, err
	}
	listenDSN := dsn
	if opts.ListenURL != "" {
		if listenDSN, err = postgresDSN(opts.ListenURL); err != nil {
			return nil, fmt.Errorf("listening: %w", err)
		}
	}
	db, err := connectPostgres(ctx, dsn, opts)
	if err != nil {
		return nil, err
	}
	if opts.ListenURL != "" {
		if err := checkListener(ctx, db, listenDSN); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	if err := database.Attach(ctx, db, func(ctx context.Context, notify func(string)) { listen(ctx, listenDSN, notify) }); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// connectPostgres connects, and finds out what it is connected to.
func connectPostgres(ctx context.Context, dsn string, opts Options) (*sqlx.DB, error) {
	to, err := newConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("opening PostgreSQL: %w", err)
	}
	db := sqlx.NewDb(sql.OpenDB(to), "postgres")
	conns := cmp.Or(opts.MaxConns, DefaultConns)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxLifetime(pgLifetime)
	if db, err = ready(ctx, db); err != nil {
		return nil, err
	}
	pooled, err := isPooled(ctx, db, dsn)
	switch {
	case err != nil:
	case pooled && opts.ListenURL == "":
		err = ErrPooler
	case pooled:
		err = errors.Join(canBegin(ctx, db), database.NeverPrepare(ctx, db))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to the database: %w", err), db.Close())
	}
	return db, nil
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

// sslMode returns "disable" if all hosts are this machine, which involves no network.
func sslMode(u *url.URL, q url.Values) string {
	for host := range strings.SplitSeq(cmp.Or(q.Get("host"), u.Host), ",") {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		switch strings.Trim(host, "[]") {
		case "", "localhost", "127.0.0.1", "::1":
			continue
		}
		if !strings.HasPrefix(host, "/") {
			return "require"
		}
	}
	return "disable"
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
