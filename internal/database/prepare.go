package database

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Prepare returns the DB of db after migrate has upgraded the tables of a service.
// Its errors begin with the name of the service.
func Prepare(ctx context.Context, db *sqlx.DB, service string, migrate func(context.Context, *sqlx.DB) error) (*DB, error) {
	d, err := Of(ctx, db)
	if err == nil {
		err = migrate(ctx, db)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", service, err)
	}
	return d, nil
}
