package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/sqldb"
)

// serveCommand runs the server.
type serveCommand struct{}

// run runs the server until ctx ends. An error that the user can correct is a
// [settingError].
func (serveCommand) run(ctx context.Context, f flags, to streams) error {
	set, err := f.settings()
	if err != nil {
		return err
	}
	set.tune(os.Getenv)
	log := logger(set, to.err)
	listeners, err := listen(ctx, &set, log)
	if err != nil {
		return err
	}
	defer listeners.Main.Close() //nolint:errcheck // Serve has closed it
	all, err := awaitAll(ctx, set, listeners, log)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // it was told to end while it waited
	}
	if err != nil {
		return err
	}
	defer all.close()
	warn(ctx, set, listeners.Main.Addr(), log)
	warnWide(ctx, set, log)
	listeners.Ready = func() {
		_, _ = fmt.Fprintf(to.out, "Trunkline is ready: panel %[1]s/panel/, API docs %[1]s/swagger\n", set.BaseURL)
	}
	return all.server.Serve(ctx, listeners)
}

func logger(set settings, w io.Writer) *slog.Logger {
	opts := &slog.HandlerOptions{Level: set.LogLevel}
	if set.LogJSON {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// listen opens the listeners before anything else, so that an error here has
// changed nothing. It completes the base URL by the port.
func listen(ctx context.Context, set *settings, log *slog.Logger) (server.Listeners, error) {
	var l server.Listeners
	var err error
	if set.TLSCert != "" {
		if l.Certificate, err = server.LoadCertificate(set.TLSCert, set.TLSKey, log); err != nil {
			return l, &settingError{"--tls-cert", cause(err)}
		}
	}
	if l.Main, err = listenOn(ctx, "--addr", set.Addr); err != nil {
		return l, err
	}
	if set.MetricsAddr != "" {
		if l.Metrics, err = listenOn(ctx, "--metrics-addr", set.MetricsAddr); err != nil {
			_ = l.Main.Close()
			return l, err
		}
	}
	if set.BaseURL == "" {
		set.BaseURL = baseURL(l)
	}
	return l, nil
}

func listenOn(ctx context.Context, flag, addr string) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err == nil {
		return ln, nil
	}
	var op *net.OpError
	why := err.Error()
	if errors.As(err, &op) {
		why = op.Err.Error()
	}
	return nil, &settingError{flag, "cannot listen on " + addr + ": " + why}
}

func baseURL(l server.Listeners) string {
	_, port, _ := net.SplitHostPort(l.Main.Addr().String()) // a TCP address always has a port
	return localURL(l.Certificate != nil, port)
}

func localURL(secure bool, port string) string {
	if secure {
		return "https://localhost:" + port
	}
	return "http://localhost:" + port
}

// closeTimeout bounds closing after the drain: the program must end within 20 s.
const closeTimeout = 500 * time.Millisecond

// closeSoon closes the database but does not wait for one that no longer answers:
// nothing is left to write.
func closeSoon(db io.Closer) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = db.Close()
	}()
	select {
	case <-closed:
	case <-time.After(closeTimeout):
	}
}

// openTimeout bounds the first connection, which detects a wrong address.
const openTimeout = 15 * time.Second

func openDatabase(ctx context.Context, set settings, home *folder) (*sqlx.DB, error) {
	url := string(set.DatabaseURL)
	if url == "" {
		if err := home.lost(); err != nil {
			return nil, err
		}
		url = home.database()
	}
	if isSQLite(url) {
		if err := home.lockSQLite(url); err != nil {
			return nil, err
		}
	}
	return connect(ctx, "--database-url", url, set.Database)
}

// connect opens the database in a flag.
func connect(ctx context.Context, flag, url string, opts sqldb.Options) (*sqlx.DB, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	db, err := sqldb.OpenWith(ctx, url, opts)
	switch {
	case errors.Is(err, sqldb.ErrDamaged):
		return nil, &damagedError{&settingError{flag, err.Error()}}
	case errors.Is(err, sqldb.ErrPooler):
		return nil, &settingError{flag, sqldb.ErrPooler.Error() + ": name PostgreSQL itself, a pooler with pool_mode=session, or also --database-listen-url"}
	case errors.Is(err, sqldb.ErrListener):
		return nil, &settingError{"--database-listen-url", "must lead to the database of --database-url, without a pooler that shares connections: " + sqldb.ErrListener.Error()}
	case err != nil:
		return nil, unusable(flag, "the database cannot be opened: "+redact(err.Error(), url), err)
	}
	return db, nil
}

func isSQLite(url string) bool { return strings.HasPrefix(url, "sqlite://") }

// sqlitePath returns the path in the URL of a SQLite database.
func sqlitePath(url string) string {
	path, _, _ := strings.Cut(strings.TrimPrefix(url, "sqlite://"), "?")
	return path
}

// redact removes the URL, which may contain a password, from the text of a driver.
func redact(s, url string) string { return strings.ReplaceAll(s, url, "(the URL)") }

func newServer(ctx context.Context, set settings, home *folder, db *sqlx.DB, own net.Addr, log *slog.Logger) (*server.Server, error) {
	cfg := set.Server
	cfg.DB, cfg.Logger, cfg.BaseURL, cfg.Version, cfg.Secrets = db, log, set.BaseURL, version, set.Secrets
	cfg.Exclusive = db.DriverName() == "sqlite" // guaranteed by the lock file
	if len(cfg.Secrets) == 0 {
		var err error
		if cfg.Secrets, err = home.secrets(); err != nil {
			return nil, err
		}
	}
	store, err := openMedia(ctx, set)
	if err != nil {
		return nil, err
	}
	cfg.Media = store
	if cfg.Models, err = set.models(); err != nil {
		return nil, err
	}
	if err := migrate(ctx, db); err != nil {
		return nil, databaseError(err)
	}
	if cfg.Providers, err = providers(ctx, db, set, own, log); err != nil {
		return nil, databaseError(err)
	}
	s, err := server.New(ctx, cfg)
	if errors.Is(err, server.ErrOtherSecret) {
		why := "the database was written with another secret: set that secret, or both, with the new one first"
		if len(set.Secrets) == 0 {
			why = "the database was written with another secret than the one in the data folder: set it with --secret, the same on every node"
		}
		return nil, &settingError{"--secret", why}
	}
	if prices, ok := errors.AsType[*usage.Invalid](err); ok {
		return nil, &settingError{"--prices", "the " + prices.Field + " of the file " + prices.Message}
	}
	if errors.Is(err, server.ErrOtherMedia) {
		return nil, &settingError{"--media", "the other nodes of this database keep their files elsewhere: set the same bucket, or a folder that all nodes share"}
	}
	if err != nil {
		return nil, databaseError(err)
	}
	return s, nil
}

// databaseError returns an error that names the setting if a newer program wrote
// the database, and a [passingError] if it passes.
func databaseError(err error) error {
	if errors.Is(err, database.ErrNewer) {
		return &settingError{"--database-url", err.Error()}
	}
	if what := passes(err); what != "" {
		return &passingError{err.Error(), what}
	}
	return err
}

// warn logs settings that the operator may not have intended.
func warn(ctx context.Context, set settings, addr net.Addr, log *slog.Logger) {
	if !set.Server.ClosedSignUp && !isLoopback(addr) {
		log.WarnContext(ctx, "everyone who can reach this address can sign up: use --signup closed to allow only the first account",
			slog.String("addr", addr.String()))
	}
}

func isLoopback(addr net.Addr) bool {
	ap, err := netip.ParseAddrPort(addr.String())
	return err == nil && ap.Addr().Unmap().IsLoopback()
}
