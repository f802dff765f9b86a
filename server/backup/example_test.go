package backup_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/backup"
	"github.com/trunklinehq/trunkline/sqldb"
)

// What a server keeps goes into a file, and from there into another database.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "backup")
	check(err)
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "old.db"))
	check(err)
	defer db.Close() //nolint:errcheck // nothing is written any more
	check(server.Migrate(ctx, db))
	flows, err := aiflow.New(ctx, db, nil)
	check(err)
	_, err = flows.For(aiflow.OneAccount).Projects().Create(ctx, aiflow.NewProject{Name: "Shop"})
	check(err)

	name := filepath.Join(dir, "trunkline.backup")
	file, err := os.Create(name)
	check(err)
	_, err = backup.Write(ctx, db, file, nil)
	check(err)
	check(file.Close())

	archive, err := backup.Open(name)
	check(err)
	defer archive.Close() //nolint:errcheck // it was read

	other, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "new.db"))
	check(err)
	defer other.Close() //nolint:errcheck // nothing is written any more
	check(archive.Restore(ctx, other, &backup.RestoreOptions{Migrate: server.Migrate}))
	flows, err = aiflow.New(ctx, other, nil)
	check(err)
	projects, err := flows.For(aiflow.OneAccount).Projects().List(ctx, aiflow.List{})
	check(err)
	fmt.Println(projects.Items[0].Name)
	// Output: Shop
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
