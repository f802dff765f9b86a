package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/auth"
)

// resetCommand helps a user who has forgotten his password. It works on the
// database beside a server that runs.
type resetCommand struct {
	Email string `arg:"" name:"e-mail" help:"The user's e-mail."`
}

// run prints the link. It is printed nowhere else.
func (r resetCommand) run(ctx context.Context, f flags, stdout io.Writer) error {
	set, err := f.settings()
	if err != nil {
		return err
	}
	db, err := openExisting(ctx, set)
	if err != nil {
		return err
	}
	defer closeSoon(db)
	token, err := auth.IssueReset(ctx, db, r.Email)
	var bad *auth.Invalid
	switch {
	case errors.As(err, &bad):
		return &settingError{"E-MAIL", bad.Message}
	case errors.Is(err, auth.ErrNotFound):
		return errors.New("there is no user with this e-mail")
	case err != nil:
		return err
	}
	_, err = fmt.Fprintln(stdout, server.ResetLink(addressOf(set), token))
	return err
}

// openExisting opens the database of a server, and makes none.
func openExisting(ctx context.Context, set settings) (*sqlx.DB, error) {
	flag, url := "--database-url", string(set.DatabaseURL)
	if url == "" {
		flag, url = "--data", databaseIn(set.Data)
	}
	if isSQLite(url) {
		path, _, _ := strings.Cut(strings.TrimPrefix(url, "sqlite://"), "?")
		if _, err := os.Stat(path); err != nil {
			return nil, &settingError{flag, "there is no database: " + cause(err)}
		}
	}
	return connect(ctx, flag, url)
}

// addressOf is the base URL of a server with these settings.
func addressOf(set settings) string {
	if set.BaseURL != "" {
		return set.BaseURL
	}
	_, port, _ := net.SplitHostPort(set.Addr) // it was checked
	return localURL(set.TLSCert != "", port)
}
