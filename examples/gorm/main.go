// Command gorm stores orders with gorm on PostgreSQL, and sends an event for each to a
// receiver. An order and its event are stored in one transaction of gorm, so that
// neither exists without the other, even if the program is killed.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/jmoiron/sqlx"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/trunklinehq/trunkline/webhook"
)

// Order is a row that gorm writes.
type Order struct {
	ID   int64
	What string `gorm:"not null;check:what <> ''"`
}

func main() {
	database := flag.String("db", "postgres://localhost/shop", "database")
	url := flag.String("url", "http://127.0.0.1:4000/", "receiver")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *database, *url, os.Stdin)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gorm:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, database, url string, in io.Reader) error {
	db, err := gorm.Open(postgres.Open(database), &gorm.Config{})
	if err != nil {
		return err
	}
	conns, err := db.DB()
	if err != nil {
		return err
	}
	defer conns.Close() //nolint:errcheck // the program ends
	if err := db.WithContext(ctx).AutoMigrate(&Order{}); err != nil {
		return err
	}
	hooks, err := webhook.New(ctx, sqlx.NewDb(conns, "pgx"), &webhook.Options{
		Secrets: []string{os.Getenv("APP_SECRET")}, // seals what is stored
		Allow:   []string{"127.0.0.1"},             // otherwise private addresses are refused
	})
	if err != nil {
		return err
	}
	_, _, err = hooks.For(webhook.OneAccount).Put(ctx, webhook.Settings{
		Scope: "shop", URL: url, Secret: os.Getenv("WEBHOOK_SECRET"), // signs; the receiver verifies with it
	})
	if err != nil {
		return err
	}
	go func() {
		for lines := bufio.NewScanner(in); lines.Scan(); {
			if err := order(ctx, db, hooks, lines.Text()); err != nil {
				fmt.Fprintln(os.Stderr, "gorm:", err)
			}
		}
	}()
	return hooks.Run(ctx) // delivers until ctx ends, including events of an earlier run
}

// order stores an order and its event.
func order(ctx context.Context, db *gorm.DB, hooks *webhook.Dispatcher, what string) error {
	return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		row := Order{What: what}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		body, err := json.Marshal(map[string]any{"order": row.ID, "what": what})
		if err != nil {
			return err
		}
		return hooks.PublishTx(ctx, tx.Statement.ConnPool, webhook.Event{
			Account: webhook.OneAccount, Scope: "shop", Type: "order.created", Key: "orders", Body: body,
		})
	})
}
