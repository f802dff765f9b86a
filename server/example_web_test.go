package server_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/sqldb"
)

// Package server does not link WhatsApp Web. A program that wants it adds the
// provider, which keeps the keys of linked devices in the same database.
func ExampleConfig_whatsAppWeb() {
	dir, err := os.MkdirTemp("", "trunkline")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	ctx := context.Background()
	db := sqldb.MustOpen(ctx, "sqlite://"+filepath.Join(dir, "chats.db"))
	defer func() { _ = db.Close() }()
	whatsapp, err := web.New(ctx, db, nil)
	if err != nil {
		log.Fatal(err)
	}
	chat, err := server.New(ctx, server.Config{
		DB:        db,
		Secrets:   []server.Secret{"at least 32 characters, kept secret"},
		Providers: []provider.Provider{whatsapp},
	})
	if err != nil {
		log.Fatal(err)
	}
	shop, err := chat.Messaging.For("acme").References().Create(ctx, messaging.NewReference{Name: "Shop", Type: web.Kind})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(shop.Type)
	// Output: provider-web
}
