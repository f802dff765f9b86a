package secondfactor_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/sqldb"
)

// A user begins to set up an authenticator app, and types a wrong code.
func Example() {
	if err := enrol(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// the app scans otpauth://totp/Trunkline:ana@example.org
	// code is not the code that the app shows now
	// enabled: false
}

func enrol(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "factor")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "users.db"))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // a temporary file
	users, err := auth.New(ctx, db, &auth.Options{Secrets: []string{"a secret of 32 characters and more"}})
	if err != nil {
		return err
	}
	session, err := users.SignUp(ctx, auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: "correct horse"})
	if err != nil {
		return err
	}
	ana, err := users.Authenticate(ctx, session.Token)
	if err != nil {
		return err
	}
	enrolment, err := users.SecondFactor().Enrol(ctx, ana, "correct horse", netip.MustParseAddr("192.0.2.1"))
	if err != nil {
		return err
	}
	link, _, _ := strings.Cut(enrolment.URL, "?")
	fmt.Println("the app scans", link)
	_, err = users.SecondFactor().Confirm(ctx, ana, "no code")
	fmt.Println(err)
	state, err := users.SecondFactor().State(ctx, ana)
	if err != nil {
		return err
	}
	fmt.Println("enabled:", state.Enabled)
	return nil
}
