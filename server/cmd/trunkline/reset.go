package main

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/mail"
)

// resetCommand helps a user who has forgotten the password. It uses the database
// directly, also while the server runs.
type resetCommand struct {
	Email string `arg:"" name:"e-mail" help:"The user's e-mail."`
}

// run prints the link, which appears nowhere else.
func (r resetCommand) run(ctx context.Context, f flags, to streams) error {
	set, err := f.settings()
	if err != nil {
		return err
	}
	db, err := openCurrent(ctx, set)
	if err != nil {
		return err
	}
	defer closeSoon(db)
	if ctx, err = recording(ctx, db); err != nil {
		return err
	}
	token, err := auth.IssueReset(ctx, db, r.Email)
	if err != nil {
		return refusedUser(err)
	}
	_, err = fmt.Fprintln(to.out, mail.ResetLink(addressOf(set), token))
	return err
}
