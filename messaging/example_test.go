package messaging_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/sqldb"
)

// A reference without any account: a contact writes, and is answered.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "chats.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing is written any more
	if err := messaging.Migrate(ctx, db); err != nil {
		log.Fatal(err)
	}
	svc, err := messaging.New(ctx, db, &messaging.Options{Providers: []provider.Provider{sandbox.New()}})
	if err != nil {
		log.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- svc.Run(ctx) }()

	acc := svc.For(messaging.OneAccount)
	ref, err := acc.References().Create(ctx, messaging.NewReference{Name: "Shop", Type: sandbox.Kind})
	if err != nil {
		log.Fatal(err)
	}
	ana := sandbox.Phone{Inbox: svc, Reference: ref.ID, Name: "ana", PushName: "Ana"}
	if _, err := ana.Write(ctx, provider.Text{Text: "Is it in stock?"}); err != nil {
		log.Fatal(err)
	}
	sent, err := acc.Send(ctx, messaging.SendRequest{
		Reference: ref.ID, ChatID: "ana@sandbox", Content: provider.Text{Text: "Yes!"}, Wait: 10 * time.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := ana.Read(ctx, sent.Message.ID); err != nil {
		log.Fatal(err)
	}

	page, err := acc.Messages(ctx, ref.ID, "ana@sandbox", messaging.History{})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range page.Items { // the newest first
		fmt.Println(m.Direction, m.Status, m.Text)
	}
	stop()
	if err := <-stopped; err != nil {
		log.Fatal(err)
	}
	// Output:
	// out READ Yes!
	// in DELIVERED Is it in stock?
}

// Two contacts get a message in one transaction, or none does.
func ExampleService_BatchTx() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "chats.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing is written any more
	svc, err := messaging.New(ctx, db, &messaging.Options{Providers: []provider.Provider{sandbox.New()}})
	if err != nil {
		log.Fatal(err)
	}
	ref, err := svc.For(messaging.OneAccount).References().Create(ctx, messaging.NewReference{Name: "Shop", Type: sandbox.Kind})
	if err != nil {
		log.Fatal(err)
	}

	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	batch, err := svc.BatchTx(tx)
	if err != nil {
		log.Fatal(err)
	}
	for _, chat := range []string{"ana@sandbox", "bob@sandbox"} {
		m, err := batch.Send(ctx, messaging.OneAccount, messaging.SendRequest{
			Reference: ref.ID, ChatID: chat, Content: provider.Text{Text: "We open at nine."},
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(m.ChatID, m.Status)
	}
	if err := batch.Flush(ctx); err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ana@sandbox PENDING
	// bob@sandbox PENDING
}
