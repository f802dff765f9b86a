package auth_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/sqldb"
)

// Someone signs up, and the token says who makes a request.
func Example() {
	if err := firstUser(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ana@example.org may chats.send: true
	// another token: auth: the token is not valid
}

func firstUser(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "auth")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "users.db"))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it goes with its folder
	if err := auth.Migrate(ctx, db); err != nil {
		return err
	}
	users, err := auth.New(ctx, db, &auth.Options{Secrets: []string{"a secret of at least 32 characters"}})
	if err != nil {
		return err
	}
	s, err := users.SignUp(ctx, auth.NewUser{Email: "Ana@Example.org", Name: "Ana", Password: "correct horse"})
	if err != nil {
		return err
	}
	caller, err := users.Authenticate(ctx, s.Token)
	if err != nil {
		return err
	}
	fmt.Printf("%s may %s: %t\n", s.User.Email, auth.ChatsSend, caller.Can(auth.ChatsSend))
	_, err = users.Authenticate(ctx, "no token")
	fmt.Println("another token:", err)
	return nil
}
