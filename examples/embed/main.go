// Command embed is an existing shop with a gorilla/mux router, its own routes and
// its own password. addChat adds the whole engine: its API is under /chat with its
// own tokens, and the shop's handlers call its services in Go.
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

	"github.com/gorilla/mux"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/sqldb"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:4000", "listening address")
	database := flag.String("db", "sqlite://shop.db", "database")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *addr, *database)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr, database string) error {
	db, err := sqldb.Open(ctx, database) // or an existing *sqlx.DB
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	router := mux.NewRouter()
	chat, err := addChat(ctx, router, db)
	if err != nil {
		return err
	}
	account, line, err := open(ctx, chat, sandbox.Kind)
	if err != nil {
		return err
	}
	s := &shop{messages: chat.Messaging.For(account), line: line}
	orders := router.PathPrefix("/orders").Subrouter()
	orders.Use(staffOnly(os.Getenv("SHOP_PASSWORD")))
	orders.HandleFunc("/{id}/ship", s.ship).Methods(http.MethodPost)

	working, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- chat.Run(working) }() // sends, delivers webhooks, retries
	web := &http.Server{Addr: addr, Handler: router, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = web.Shutdown(context.WithoutCancel(ctx)) })
	if err = web.ListenAndServe(); errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	stop()
	return errors.Join(err, <-done)
}

// addChat adds the engine under /chat.
func addChat(ctx context.Context, router *mux.Router, db *sqlx.DB) (*server.Server, error) {
	chat, err := server.New(ctx, server.Config{
		DB: db, Secrets: []server.Secret{server.Secret(os.Getenv("APP_SECRET"))}, BaseURL: "http://localhost:4000/chat", Exclusive: true,
	})
	if err != nil {
		return nil, err
	}
	router.PathPrefix("/chat/").Handler(http.StripPrefix("/chat", chat))
	return chat, nil
}
