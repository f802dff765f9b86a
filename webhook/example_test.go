package webhook_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/trunklinehq/trunkline/sqldb"
	"github.com/trunklinehq/trunkline/webhook"
)

// An event goes in with the transaction that made it; a signed request comes
// out.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	dir, err := os.MkdirTemp("", "webhook")
	check(err)
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "example.db"))
	check(err)
	defer db.Close() //nolint:errcheck // the program ends
	check(webhook.Migrate(ctx, db))

	d, err := webhook.New(ctx, db, &webhook.Options{Secrets: []string{"a secret of at least 32 characters"}, Allow: []string{"127.0.0.1"}})
	check(err)
	done := make(chan error)
	go func() { done <- d.Run(ctx) }()

	// The receiver checks who sent it.
	var secret string
	received := make(chan string)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := webhook.Verify(secret, r.Header, body, time.Now()); err != nil {
			log.Print(err)
		}
		received <- fmt.Sprintf("%s %s: %s", r.Header.Get("Webhook-Event"), r.Header.Get("Webhook-Sequence"), body)
	}))
	defer receiver.Close()
	ep, _, err := d.For(webhook.OneAccount).Put(ctx, webhook.Settings{Scope: "shop", URL: receiver.URL})
	check(err)
	secret = ep.Secret

	tx, err := db.BeginTxx(ctx, nil)
	check(err)
	for _, body := range []string{`{"text":"Hello"}`, `{"text":"How are you?"}`} {
		check(d.PublishTx(ctx, tx, webhook.Event{
			Account: webhook.OneAccount, Scope: "shop", Type: "order.created", Key: "customer 7", Body: []byte(body),
		}))
	}
	check(tx.Commit())

	fmt.Println(<-received)
	fmt.Println(<-received)
	cancel()
	check(<-done)
	// Output:
	// order.created 1: {"text":"Hello"}
	// order.created 2: {"text":"How are you?"}
}

// The mirror shows what a receiver would get, without one.
func ExampleEcho() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir, err := os.MkdirTemp("", "webhook")
	check(err)
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "example.db"))
	check(err)
	defer db.Close() //nolint:errcheck // the program ends
	check(webhook.Migrate(ctx, db))

	var echo webhook.Echo
	d, err := webhook.New(ctx, db, &webhook.Options{Secrets: []string{"a secret of at least 32 characters"}, Echo: &echo})
	check(err)
	acc := d.For(webhook.OneAccount)
	ep, _, err := acc.Put(ctx, webhook.Settings{Scope: "shop", URL: webhook.EchoURL})
	check(err)
	answer, err := acc.Test(ctx, ep.ID, webhook.Event{Type: "order.created", Body: []byte(`{"text":"Hello"}`)})
	check(err)
	fmt.Println(answer.StatusCode, answer.Response)
	fmt.Println(echo.Last("shop")[0].Body)
	// Output:
	// 200 received
	// {"text":"Hello"}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
