package messaging

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// LibraryFiles are the ids of all files that the library has for this database,
// whichever account they belong to: what a copy of the database needs beside
// it. q is the database or a transaction of it. One of them may be removed
// later.
func LibraryFiles(ctx context.Context, q sqlx.QueryerContext) ([]string, error) {
	var ids []string
	if err := sqlx.SelectContext(ctx, q, &ids, `SELECT media FROM messaging_library
		UNION SELECT id FROM messaging_media WHERE NOT waiting AND NOT gone ORDER BY 1`); err != nil {
		return nil, fmt.Errorf("listing the files of the library: %w", err)
	}
	return ids, nil
}
