package client_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/client"
	"github.com/trunklinehq/trunkline/sqldb"
)

// messenger is what greet needs: client.Messaging has it, a test may have its own.
type messenger interface {
	Send(ctx context.Context, in client.SendRequest, p *client.SendParams) (*client.SendAnswer, error)
}

// greet does not know whether the server is in this program or elsewhere.
func greet(ctx context.Context, m messenger, ref int64) (string, error) {
	sent, err := m.Send(ctx, client.SendRequest{
		Reference: ref, ChatID: "ana@sandbox", Message: client.Content{Type: "text", Text: "Hello"},
	}, nil)
	if err != nil {
		return "", err
	}
	return sent.Message.Text, nil
}

// The same code runs against a server in this program and against one
// elsewhere: only the line that makes the client differs.
func Example() {
	ctx := context.Background()
	srv, stop := start(ctx)
	defer stop()
	web := httptest.NewServer(srv)
	defer web.Close()

	embedded := client.In(srv, nil)
	session, err := embedded.Auth.SignUp(ctx, client.SignUpRequest{Email: "ana@example.org", Name: "Ana", Password: "correct horse"})
	if err != nil {
		log.Fatal(err)
	}
	embedded = embedded.WithToken(session.Token)
	ref, err := embedded.Messaging.CreateReference(ctx, client.CreateReferenceRequest{Name: "Shop", Type: "provider-sandbox"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err = embedded.Sandbox.Write(ctx, ref.ID, client.WriteRequest{From: "ana", Type: "text", Text: "Hi"}); err != nil {
		log.Fatal(err)
	}
	remote, err := client.New(web.URL, &client.Options{Token: session.Token})
	if err != nil {
		log.Fatal(err)
	}

	for _, c := range []*client.Client{embedded, remote} {
		text, err := greet(ctx, c.Messaging, ref.ID)
		fmt.Println(text, err)
	}
	for m, err := range remote.Messaging.AllMessages(ctx, ref.ID, "ana", nil) {
		fmt.Println(m.Actor, m.Text, err)
	}
	_, err = remote.Messaging.Reference(ctx, 12)
	fmt.Println(client.CodeOf(err) == client.CodeNotFound)
	// Output:
	// Hello <nil>
	// Hello <nil>
	// api Hello <nil>
	// api Hello <nil>
	// contact Hi <nil>
	// true
}

// start runs a server on an empty database.
func start(ctx context.Context) (*server.Server, func()) {
	dir, err := os.MkdirTemp("", "trunkline")
	if err != nil {
		log.Fatal(err)
	}
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "trunkline.db"))
	if err != nil {
		log.Fatal(err)
	}
	srv, err := server.New(ctx, server.Config{
		DB: db, Secrets: []server.Secret{"at least 32 characters, kept secret"}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Run(ctx)
	}()
	return srv, func() {
		cancel()
		<-done
		_ = db.Close()
		_ = os.RemoveAll(dir)
	}
}
