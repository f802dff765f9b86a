package database

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
)

// QuickCheck returns what is wrong with the file of a SQLite database, "" if nothing was
// found. It reads the whole file, but does not compare indexes with tables. See
// https://sqlite.org/pragma.html#pragma_quick_check. Of PostgreSQL it finds nothing: that
// checks the pages that it reads, if the cluster has checksums.
func (d Dialect) QuickCheck(ctx context.Context, q sqlx.QueryerContext) (problem string, err error) {
	if d != SQLite {
		return "", nil
	}
	var found []string
	if err := sqlx.SelectContext(ctx, q, &found, `PRAGMA quick_check(3)`); err != nil {
		var lite interface{ Code() int }
		if errors.As(err, &lite) && lite.Code()&0xff == liteCorrupt {
			return err.Error(), nil
		}
		return "", fmt.Errorf("checking the database: %w", err)
	}
	if len(found) == 1 && found[0] == "ok" {
		return "", nil
	}
	return strings.Join(strings.Fields(strings.Join(found, "; ")), " "), nil
}

// liteCorrupt is SQLite's result code for a file that is damaged. See
// https://sqlite.org/rescode.html#corrupt.
const liteCorrupt = 11
