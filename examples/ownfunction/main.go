// Command ownfunction offers agents a custom function, price in price.go, in
// addition to the built-in ones: over the Model Context Protocol and over REST. It
// prints the token for calling it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"

	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/sqldb"
)

func main() {
	addr := flag.String("addr", "localhost:4000", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *addr, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ownfunction:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr string, out io.Writer) error {
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	s, err := server.New(ctx, server.Config{
		DB: db, Secrets: []server.Secret{"a secret of this example, which keeps nothing"}, BaseURL: "http://" + addr,
		Functions: shop, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	owner, err := s.Auth.SignUp(ctx, auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: "correct horse"})
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(out, owner.Token)
	return s.Serve(ctx, server.Listeners{Main: l})
}
