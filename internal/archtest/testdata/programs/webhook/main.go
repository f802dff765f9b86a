package main

import (
	"context"
	"errors"
	"log"
	"os"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite"

	"github.com/trunklinehq/trunkline/webhook"
)

func main() {
	ctx, db := context.Background(), sqlx.MustConnect("sqlite", "file:shop.db?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)")
	hooks, err := webhook.New(ctx, db, &webhook.Options{Secrets: []string{os.Getenv("APP_SECRET")}, Allow: []string{"127.0.0.1"}})
	if err != nil {
		log.Fatal(err)
	}
	_, _, err = hooks.For(webhook.OneAccount).Put(ctx, webhook.Settings{Scope: "shop", URL: os.Getenv("RECEIVER"), Secret: os.Getenv("WEBHOOK_SECRET")})
	if err = errors.Join(err, hooks.Publish(ctx, webhook.Event{Account: webhook.OneAccount, Scope: "shop", Type: "order.created", Body: []byte(`{"order":17}`)})); err == nil {
		err = hooks.Run(ctx) // delivers, and tries again until it is taken
	}
	log.Fatal(err)
}
