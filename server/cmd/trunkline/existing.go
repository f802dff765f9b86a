package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/server/backup"
)

// openExisting opens the database of a server. It does not create one.
func openExisting(ctx context.Context, set settings) (*sqlx.DB, error) {
	flag, url := "--database-url", string(set.DatabaseURL)
	if url == "" {
		flag, url = "--data", databaseIn(set.Data)
	}
	if isSQLite(url) {
		path := sqlitePath(url)
		if _, err := os.Stat(path); err != nil {
			return nil, &settingError{flag, "the database does not exist: " + cause(err)}
		}
	}
	return connect(ctx, flag, url, set.Database)
}

// damagedError means that the database of a setting is damaged.
type damagedError struct{ *settingError }

// Unwrap returns the error of the setting.
func (e *damagedError) Unwrap() error { return e.settingError }

// addressOf returns the base URL of a server with these settings.
func addressOf(set settings) string {
	if set.BaseURL != "" {
		return set.BaseURL
	}
	_, port, _ := net.SplitHostPort(set.Addr) // it was checked before
	return localURL(set.TLSCert != "", port)
}

// openCurrent opens the database of a server of this version.
func openCurrent(ctx context.Context, set settings) (*sqlx.DB, error) {
	db, err := openExisting(ctx, set)
	if err != nil {
		return nil, err
	}
	err = current(ctx, db)
	if err != nil {
		closeSoon(db)
		return nil, err
	}
	return db, nil
}

// current returns an error unless the tables of a database are those of this
// version.
func current(ctx context.Context, db *sqlx.DB) error {
	have, err := backup.VersionsOf(ctx, db)
	if err != nil {
		return err
	}
	known, err := backup.VersionsAfter(ctx, migrate)
	if err != nil {
		return err
	}
	older, newer := backup.Compare(have, known)
	switch {
	case len(newer) > 0:
		return &settingError{"--database-url", fmt.Sprintf("the database is newer than this program (tables of %s): use the version that wrote it, or a later one", strings.Join(newer, ", "))}
	case len(older) > 0:
		return &settingError{"--database-url", fmt.Sprintf("the database is older than this program (tables of %s): start the server once, which updates it", strings.Join(older, ", "))}
	}
	return nil
}
