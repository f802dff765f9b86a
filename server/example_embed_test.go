package server_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/sqldb"
)

// embed adds the whole engine to a program that has routes of its own.
func embed(ctx context.Context, mux *http.ServeMux, database string, secret server.Secret) (*server.Server, error) {
	db, err := sqldb.Open(ctx, database) // "sqlite://chats.db"; or the *sqlx.DB that you have
	if err != nil {
		return nil, err
	}
	srv, err := server.New(ctx, server.Config{DB: db, Secrets: []server.Secret{secret}})
	if err != nil {
		return nil, err
	}
	mux.Handle("/chat/", http.StripPrefix("/chat", srv))
	return srv, nil
}

// The engine stands under a path of a program that was there before, which
// calls its services in Go.
func ExampleServer() {
	dir, err := os.MkdirTemp("", "trunkline")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, stop := context.WithCancel(context.Background())
	mux := http.NewServeMux()
	srv, err := embed(ctx, mux, "sqlite://"+filepath.Join(dir, "chats.db"), "at least 32 characters, kept secret")
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }() // sends, delivers webhooks, retries

	user, err := srv.Auth.SignUp(ctx, auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: "correct horse"})
	if err != nil {
		log.Fatal(err)
	}
	ref, err := srv.Messaging.For(user.User.AccountID).References().Create(ctx, messaging.NewReference{Name: "Shop", Type: sandbox.Kind})
	if err != nil {
		log.Fatal(err)
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("/chat/reference/%d", ref.ID), nil)
	r.Header.Set("Authorization", "Bearer "+user.Token)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	fmt.Println(ref.Name, w.Code)
	stop()
	fmt.Println(<-done)
	// Output:
	// Shop 200
	// <nil>
}
