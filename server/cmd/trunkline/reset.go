package main

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

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
	return onDatabase(ctx, f, func(ctx context.Context, db *sqlx.DB, set settings) error {
		token, err := auth.IssueReset(ctx, db, r.Email)
		if err != nil {
			return refusedUser(err)
		}
		_, err = fmt.Fprintln(to.out, mail.ResetLink(addressOf(set), token))
		return err
	})
}
