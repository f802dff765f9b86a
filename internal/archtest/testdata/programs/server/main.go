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
	ctx, router := context.Background(), mux.NewRouter() // the router that you have
	db := sqldb.MustOpen(ctx, "sqlite://chats.db")       // or the *sqlx.DB that you have
	chat, err := server.New(ctx, server.Config{DB: db, Secrets: []server.Secret{server.Secret(os.Getenv("APP_SECRET"))}})
	if err != nil {
		log.Fatal(err)
	}
	router.PathPrefix("/chat/").Handler(http.StripPrefix("/chat", chat))
	go func() { log.Fatal(chat.Run(ctx)) }() // sends, delivers webhooks, retries
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), router))
}
