// Command bottest is a bot for a WhatsApp number that tells when a shop is open.
// bot_test.go shows how to test a bot without any account: its answers, a
// conversation on the sandbox, and the real protocol against a fake of Meta's API.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/sqldb"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:4000", "listening address")
	database := flag.String("db", "sqlite://bot.db", "database")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *addr, *database)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bottest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr, database string) error {
	db, err := sqldb.Open(ctx, database)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	chats, err := newChats(ctx, db, os.Getenv("APP_SECRET"), os.Getenv("GRAPH_URL"))
	if err != nil {
		return err
	}
	acc := chats.For(messaging.OneAccount)
	lines, err := acc.References().List(ctx, cloud.Kind, messaging.List{})
	if err != nil {
		return err
	}
	if len(lines.Items) == 0 { // the first start
		_, err := acc.References().Create(ctx, messaging.NewReference{Name: "Shop", Type: cloud.Kind, Settings: map[string]string{
			"phoneNumberId": os.Getenv("PHONE_NUMBER_ID"), "businessAccountId": os.Getenv("BUSINESS_ACCOUNT_ID"),
			"accessToken": os.Getenv("ACCESS_TOKEN"), "appSecret": os.Getenv("META_APP_SECRET"), "verifyToken": os.Getenv("VERIFY_TOKEN"),
		}})
		if err != nil {
			return err
		}
	}
	working, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- chats.Run(working) }()
	web := &http.Server{Addr: addr, Handler: messaging.CallbackHandler(chats, nil), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = web.Shutdown(context.WithoutCancel(ctx)) })
	if err = web.ListenAndServe(); errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	stop()
	return errors.Join(err, <-done)
}
