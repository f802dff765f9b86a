package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/sqldb"
)

func main() {
	ctx := context.Background()
	db := sqldb.MustOpen(ctx, "sqlite://chats.db") // or the *sqlx.DB that you have
	chat, err := server.New(ctx, server.Config{
		DB:      db,
		Secrets: []server.Secret{server.Secret(os.Getenv("APP_SECRET"))},
	})
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(chat.Run(ctx)) }() // sends, delivers webhooks, retries

	router := mux.NewRouter() // the router that you have
	router.PathPrefix("/chat/").Handler(http.StripPrefix("/chat", chat))
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), router))
}
