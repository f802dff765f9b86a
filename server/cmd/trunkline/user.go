package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/term"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/secondfactor"
	"github.com/trunklinehq/trunkline/server/internal/auditlog"
)

// listCommand lists users.
type listCommand struct {
	JSON bool `name:"json" help:"A JSON array instead of a table."`
}

// listed is a user in the list.
type listed struct {
	ID          string            `json:"id"`
	Account     string            `json:"accountId"`
	Email       string            `json:"email"`
	Name        string            `json:"name"`
	Role        auth.Role         `json:"role"`
	Permissions []auth.Permission `json:"permissions"`
	Disabled    bool              `json:"disabled"`
	CreatedAt   time.Time         `json:"createdAt"`
}

func (c listCommand) run(ctx context.Context, f flags, to streams) error {
	return operate(ctx, f, func(ctx context.Context, o *auth.Operator) error {
		users, err := o.Users(ctx)
		if err != nil {
			return err
		}
		out := make([]listed, len(users))
		for i, u := range users {
			out[i] = listed{u.ID, u.AccountID, u.Email, u.Name, u.Role, u.Permissions, u.Disabled, u.CreatedAt}
		}
		if c.JSON {
			enc := json.NewEncoder(to.out)
			enc.SetIndent("", "  ")
			return enc.Encode(out)
		}
		w := tabwriter.NewWriter(to.out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "E-MAIL\tNAME\tACCOUNT\tROLE OR PERMISSIONS\tCREATED\t") // Flush returns the error
		for _, u := range out {
			rights, state := or(string(u.Role), fmt.Sprintf("%d of %d", len(u.Permissions), len(auth.AllPermissions()))), ""
			if u.Disabled {
				state = "disabled"
			}
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", u.Email, u.Name, u.Account, rights, u.CreatedAt.Format(time.DateOnly), state)
		}
		return w.Flush()
	})
}

// createCommand creates a user.
type createCommand struct {
	Email       string `arg:"" name:"e-mail" help:"The user's e-mail."`
	Name        string `placeholder:"NAME" help:"The user's name (default: the part before the @)."`
	Account     string `placeholder:"ID" help:"The account that the user joins, as user list shows it (default: a new one, whose owner the user is)."`
	Role        string `placeholder:"NAME" help:"owner, admin (default in an account that exists), builder, agent or viewer."`
	Permissions string `placeholder:"NAME,…" help:"What the user may do, instead of a role."`
}

func (c createCommand) run(ctx context.Context, f flags, to streams) error {
	return operate(ctx, f, func(ctx context.Context, o *auth.Operator) error {
		password, err := newPassword(to)
		if err != nil {
			return err
		}
		name, _, _ := strings.Cut(c.Email, "@")
		var rights []auth.Permission
		for _, p := range list(c.Permissions) {
			rights = append(rights, auth.Permission(p))
		}
		u, err := o.Create(ctx, c.Account, auth.NewUser{Email: c.Email, Name: or(c.Name, name), Password: password, Role: auth.Role(c.Role)}, rights)
		if errors.Is(err, auth.ErrNotFound) {
			return &settingError{"--account", "there is no such account"}
		}
		if err == nil {
			_, err = fmt.Fprintf(to.out, "Created %s in account %s\n", u.Email, u.AccountID)
		}
		return err
	})
}

// passwordCommand sets a password.
type passwordCommand struct {
	Email string `arg:"" name:"e-mail" help:"The user's e-mail."`
}

func (c passwordCommand) run(ctx context.Context, f flags, to streams) error {
	return operate(ctx, f, func(ctx context.Context, o *auth.Operator) error {
		password, err := newPassword(to)
		if err != nil {
			return err
		}
		return o.SetPassword(ctx, c.Email, password)
	})
}

// ownerCommand makes a user an owner, for an account that has lost its owner.
type ownerCommand struct {
	Email string `arg:"" name:"e-mail" help:"The user's e-mail."`
}

func (c ownerCommand) run(ctx context.Context, f flags, _ streams) error {
	return operate(ctx, f, func(ctx context.Context, o *auth.Operator) error { return o.SetOwner(ctx, c.Email) })
}

// disableCommand disables a user.
type disableCommand struct {
	Email string `arg:"" name:"e-mail" help:"The user's e-mail."`
}

func (c disableCommand) run(ctx context.Context, f flags, _ streams) error {
	return operate(ctx, f, func(ctx context.Context, o *auth.Operator) error { return o.SetDisabled(ctx, c.Email, true) })
}

// enableCommand enables a disabled user.
type enableCommand struct {
	Email string `arg:"" name:"e-mail" help:"The user's e-mail."`
}

func (c enableCommand) run(ctx context.Context, f flags, _ streams) error {
	return operate(ctx, f, func(ctx context.Context, o *auth.Operator) error { return o.SetDisabled(ctx, c.Email, false) })
}

// factorCommand removes the second factor of a user.
type factorCommand struct {
	Email string `arg:"" name:"e-mail" help:"The user's e-mail."`
}

func (c factorCommand) run(ctx context.Context, f flags, _ streams) error {
	return operate(ctx, f, func(ctx context.Context, o *auth.Operator) error { return o.RemoveSecondFactor(ctx, c.Email) })
}

// operate runs fn on the users of a server, which may be running.
func operate(ctx context.Context, f flags, fn func(context.Context, *auth.Operator) error) error {
	return onDatabase(ctx, f, func(ctx context.Context, db *sqlx.DB, _ settings) error {
		o, err := auth.NewOperator(ctx, db)
		if err != nil {
			return err
		}
		return refusedUser(fn(ctx, o))
	})
}

// onDatabase runs fn on the database of a server, which may be running. Its changes
// are recorded in the audit logs of their accounts.
func onDatabase(ctx context.Context, f flags, fn func(context.Context, *sqlx.DB, settings) error) error {
	set, err := f.settings()
	if err != nil {
		return err
	}
	db, err := openCurrent(ctx, set)
	if err != nil {
		return err
	}
	defer closeSoon(db)
	log, err := auditlog.New(ctx, db, nil)
	if err != nil {
		return err
	}
	return fn(audit.With(ctx, log, audit.Origin{}), db, set)
}

// refusedUser returns an error that tells the operator what to do.
func refusedUser(err error) error {
	var bad *auth.Invalid
	switch {
	case errors.As(err, &bad) && bad.Field == "email":
		return &settingError{"E-MAIL", bad.Message}
	case errors.As(err, &bad) && bad.Field == "password":
		return &settingError{"the password", bad.Message}
	case errors.As(err, &bad):
		return &settingError{"--" + bad.Field, bad.Message}
	case errors.Is(err, auth.ErrNotFound):
		return errors.New("there is no user with this e-mail")
	case errors.Is(err, secondfactor.ErrNone):
		return errors.New("the user has no second factor")
	case errors.Is(err, auth.ErrEmailTaken):
		return &settingError{"E-MAIL", "another user has it"}
	}
	return err
}

// newPassword reads a password: on a terminal twice and without echo, otherwise
// from the first line of standard input. It is never an argument, which other users
// could see.
func newPassword(to streams) (string, error) {
	file, ok := to.in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		line, err := bufio.NewReader(to.in).ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			return "", &settingError{"the password", "must be the first line of standard input: " + cause(cmp.Or(err, io.EOF))}
		}
		return line, nil
	}
	var typed [2]string
	for i, prompt := range []string{"New password: ", "Again: "} {
		_, _ = fmt.Fprint(to.err, prompt)
		b, err := term.ReadPassword(int(file.Fd()))
		_, _ = fmt.Fprintln(to.err)
		if err != nil {
			return "", fmt.Errorf("reading the password: %w", err)
		}
		typed[i] = string(b)
	}
	if typed[0] != typed[1] {
		return "", &settingError{"the password", "the two entries differ"}
	}
	return typed[0], nil
}
