// Command litestream replicates a SQLite database into a folder, as the program of
// the same name does, and restores it. It is Litestream with only that, which builds
// faster. It is a separate module, so that neither users of Trunkline nor the linters
// get its dependencies.
//
//	litestream replicate trunkline.db file:///backups/trunkline
//	litestream restore -o trunkline.db file:///backups/trunkline
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/benbjohnson/litestream/file"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "litestream:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 3 && args[0] == "replicate" {
		return replicate(ctx, args[1], strings.TrimPrefix(args[2], "file://"))
	}
	if len(args) == 4 && args[0] == "restore" && args[1] == "-o" {
		return restore(ctx, args[2], strings.TrimPrefix(args[3], "file://"))
	}
	return errors.New("usage: litestream replicate DATABASE URL, or litestream restore -o DATABASE URL")
}

// replicate copies what is written to a database until it is told to end, and then
// the rest. It prints a line when it has begun.
func replicate(ctx context.Context, path, folder string) error {
	db, client := litestream.NewDB(path), file.NewReplicaClient(folder)
	db.Replica = litestream.NewReplicaWithClient(db, client)
	client.Replica = db.Replica
	store := litestream.NewStore([]*litestream.DB{db}, litestream.CompactionLevels{{Level: 0}, {Level: 1, Interval: time.Second}})
	if err := store.Open(ctx); err != nil {
		return err
	}
	if err := db.SyncAndWait(ctx); err != nil {
		return err
	}
	fmt.Println("replicating")
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	<-signals
	return errors.Join(db.SyncAndWait(ctx), store.Close(ctx))
}

func restore(ctx context.Context, path, folder string) error {
	opts := litestream.NewRestoreOptions()
	opts.OutputPath = path
	return litestream.NewReplicaWithClient(nil, file.NewReplicaClient(folder)).Restore(ctx, opts)
}
