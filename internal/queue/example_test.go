package queue_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/database/open"
	"github.com/trunklinehq/trunkline/internal/queue"
)

// A greeter writes to Ada, in order, and tries again when it is
// refused.
func Example() {
	if err := greet(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// hello Ada: refused
	// hello Ada
	// how are you, Ada?
}

func greet() error {
	dir, err := os.MkdirTemp("", "queue")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	db, err := open.Open(ctx, "sqlite://"+filepath.Join(dir, "greeter.db"))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // as above
	if err := queue.Migrate(ctx, db); err != nil {
		return err
	}
	q, err := queue.New(ctx, db, queue.Options{
		Name: "greetings",
		Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			if it.Seq == 1 && it.Attempt == 0 {
				fmt.Println(it.Subject + ": refused")
				return queue.Outcome{Result: queue.Retry}
			}
			fmt.Println(it.Subject)
			if it.Seq == 2 {
				stop()
			}
			return queue.Outcome{}
		},
	})
	if err != nil {
		return err
	}
	d, err := database.Of(ctx, db)
	if err != nil {
		return err
	}
	if err := d.Write(ctx, func(tx *database.Tx) error {
		return q.PutTx(ctx, tx,
			queue.JobArgs{Subscriber: "greeter", Key: "Ada", Subject: "hello Ada"},
			queue.JobArgs{Subscriber: "greeter", Key: "Ada", Subject: "how are you, Ada?"})
	}); err != nil {
		return err
	}
	q.Notify()
	return q.Run(ctx)
}
