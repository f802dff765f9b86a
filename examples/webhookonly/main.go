// Command webhookonly uses package webhook alone, without chats and without the
// server. Each typed line is an order, which is stored and sent to a receiver. The
// order and its event are stored in one transaction, so that neither exists without
// the other, even if the program is killed.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/sqldb"
	"github.com/trunklinehq/trunkline/webhook"
)

func main() {
	database := flag.String("db", "sqlite://orders.db", "database")
	url := flag.String("url", "http://127.0.0.1:4000/", "receiver")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *database, *url)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "webhookonly:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, database, url string) error {
	db, err := sqldb.Open(ctx, database) // or an existing *sqlx.DB
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	if _, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, what TEXT NOT NULL)`); err != nil {
		return err
	}
	d, err := webhook.New(ctx, db, &webhook.Options{
		Secrets:   []string{os.Getenv("APP_SECRET")}, // seals what is stored
		Allow:     []string{"127.0.0.1"},             // otherwise private addresses are refused
		Exclusive: true,                              // no other process uses this database
	})
	if err != nil {
		return err
	}
	_, _, err = d.For(webhook.OneAccount).Put(ctx, webhook.Settings{
		Scope: "shop", URL: url, Secret: os.Getenv("WEBHOOK_SECRET"), // signs; the receiver verifies with it
	})
	if err != nil {
		return err
	}
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			if err := order(ctx, db, d, lines.Text()); err != nil {
				fmt.Fprintln(os.Stderr, "webhookonly:", err)
			}
		}
	}()
	return d.Run(ctx) // delivers until ctx ends, including events of an earlier run
}

// order stores an order and its event.
func order(ctx context.Context, db *sqlx.DB, d *webhook.Dispatcher, what string) error {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after the commit it does nothing
	var id int64
	if err := tx.GetContext(ctx, &id, `INSERT INTO orders (what) VALUES ($1) RETURNING id`, what); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"order": id, "what": what})
	if err != nil {
		return err
	}
	if err := d.PublishTx(ctx, tx, webhook.Event{
		Account: webhook.OneAccount, Scope: "shop", Type: "order.created", Key: "orders", Body: body,
	}); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	fmt.Printf("order %d is stored\n", id)
	return nil
}
