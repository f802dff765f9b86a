// Command webhookreceiver receives Trunkline's webhooks: it verifies their
// signatures, stores each event once, and prints it.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/sqldb"
	"github.com/trunklinehq/trunkline/webhook"
)

// receiver stores events in a table with the webhook-id as key, so that it
// recognizes repetitions even after a restart. A receiver that does more inserts
// that row in the transaction of its work.
type receiver struct {
	secret string
	db     *sqlx.DB
}

func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
		return
	}
	if err := webhook.Verify(rc.secret, r.Header, body, time.Now()); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	// The server's headers begin with X-Trunkline-, those of package webhook as its user wants.
	event := cmp.Or(r.Header.Get("X-Trunkline-Event"), r.Header.Get("Webhook-Event"))
	sequence := cmp.Or(r.Header.Get("X-Trunkline-Sequence"), r.Header.Get("Webhook-Sequence"))
	ctx := context.WithoutCancel(r.Context()) // store and print the event even if the sender disconnects
	fresh, err := rc.keep(ctx, r.Header.Get("webhook-id"), event, body)
	if err != nil { // the event was not stored: it is sent again
		slog.ErrorContext(r.Context(), "keeping an event", slog.Any("error", err))
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	if fresh {
		fmt.Printf("%s %s: %s\n", event, sequence, body)
	}
	w.WriteHeader(http.StatusNoContent)
}

// keep stores an event, and reports whether it was new.
func (rc *receiver) keep(ctx context.Context, id, event string, body []byte) (bool, error) {
	res, err := rc.db.ExecContext(ctx, `INSERT INTO received (id, event, body) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`,
		id, event, string(body))
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

func main() {
	addr := flag.String("addr", "127.0.0.1:4000", "listening address")
	database := flag.String("db", "sqlite://received.db", "database")
	flag.Parse()
	fmt.Fprintln(os.Stderr, "webhookreceiver:", run(*addr, *database, os.Getenv("WEBHOOK_SECRET")))
	os.Exit(1)
}

func run(addr, database, secret string) error {
	if secret == "" {
		return errors.New("set WEBHOOK_SECRET to the secret of the webhook, whsec_…")
	}
	ctx := context.Background()
	db, err := sqldb.Open(ctx, database)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	_, err = db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS received (id TEXT PRIMARY KEY, event TEXT NOT NULL, body TEXT NOT NULL)`)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: addr, Handler: &receiver{secret, db}, ReadHeaderTimeout: 10 * time.Second}
	return server.ListenAndServe()
}
