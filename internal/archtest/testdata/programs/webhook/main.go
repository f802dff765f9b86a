package main

import (
	"context"
	"log"
	"os"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite"

	"github.com/trunklinehq/trunkline/webhook"
)

func main() {
	ctx := context.Background()
	db := sqlx.MustConnect("sqlite", "file:shop.db?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)")
	hooks, err := webhook.New(ctx, db, &webhook.Options{
		Secrets: []string{os.Getenv("APP_SECRET")},
		Allow:   []string{"127.0.0.1"},
	})
	if err != nil {
		log.Fatal(err)
	}
	endpoint := webhook.Settings{Scope: "shop", URL: os.Getenv("RECEIVER"), Secret: os.Getenv("WEBHOOK_SECRET")}
	if _, _, err := hooks.For(webhook.OneAccount).Put(ctx, endpoint); err != nil {
		log.Fatal(err)
	}
	order := webhook.Event{Account: webhook.OneAccount, Scope: "shop", Type: "order.created", Body: []byte(`{"order":17}`)}
	if err := hooks.Publish(ctx, order); err != nil {
		log.Fatal(err)
	}
	log.Fatal(hooks.Run(ctx)) // delivers, and tries again until it is taken
}
