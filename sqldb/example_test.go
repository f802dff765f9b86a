package sqldb_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/trunklinehq/trunkline/sqldb"
	"github.com/trunklinehq/trunkline/webhook"
)

// A database that packages of this module and a program's own tables share.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "sqldb")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing is written any more
	if err := webhook.Migrate(ctx, db); err != nil {
		log.Fatal(err)
	}
	db.MustExecContext(ctx, `CREATE TABLE orders (id INTEGER PRIMARY KEY, what TEXT NOT NULL)`)

	_, err = sqldb.Open(ctx, "shop.db")
	fmt.Println(err)
	// Output: database URL must begin with sqlite:// or postgres://
}
