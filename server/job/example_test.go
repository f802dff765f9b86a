package job_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/server/job"
	"github.com/trunklinehq/trunkline/sqldb"
)

// Example adds a job in the transaction of a request, and does it.
func Example() {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // the example ends
	jobs, err := job.Open(ctx, db, &job.Options{
		Logger: slog.New(slog.DiscardHandler),
		Kinds: map[string]job.Do{"chat": func(_ context.Context, j job.Job) error {
			fmt.Println("erasing", string(j.Args))
			return nil
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	made, err := add(ctx, db, jobs)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := jobs.Step(ctx); err != nil { // Run does so by itself
		log.Fatal(err)
	}
	made, err = jobs.Job(ctx, "acme", made.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ended:", !made.EndedAt.IsZero())
	// Output:
	// erasing "ana"
	// ended: true
}

func add(ctx context.Context, db *sqlx.DB, jobs *job.Service) (job.Job, error) {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return job.Job{}, err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	made, err := jobs.AddTx(ctx, tx, job.New{Account: "acme", Kind: "chat", Args: "ana"})
	if err != nil {
		return job.Job{}, err
	}
	if err := tx.Commit(); err != nil {
		return job.Job{}, err
	}
	return made, nil
}
