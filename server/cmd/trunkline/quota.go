package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/server/quota"
)

// quotaCommand shows and sets the quotas of an account. The server may run at the
// same time.
type quotaCommand struct {
	Account string   `arg:"" name:"account" help:"The account's id, as trunkline user list shows it."`
	Set     []string `arg:"" optional:"" name:"name=value" help:"What to set: a number, 0 for unlimited, or default."`
}

func (c quotaCommand) run(ctx context.Context, f flags, to streams) error {
	change, err := c.change()
	if err != nil {
		return err
	}
	return onDatabase(ctx, f, func(ctx context.Context, db *sqlx.DB, set settings) error { return c.apply(ctx, db, set, change, to) })
}

// apply changes the quotas and prints all.
func (c quotaCommand) apply(ctx context.Context, db *sqlx.DB, set settings, change quota.Limits, to streams) error {
	var known int
	if err := db.GetContext(ctx, &known, `SELECT count(*) FROM auth_user WHERE account_id = $1`, c.Account); err != nil {
		return fmt.Errorf("looking for the account: %w", err)
	}
	if known == 0 {
		return &settingError{"ACCOUNT", "there is no such account: trunkline user list shows all"}
	}
	q, err := quota.New(ctx, db, &quota.Options{Defaults: set.Server.Quotas})
	if err != nil {
		return err
	}
	ctx = audit.As(ctx, audit.Actor{Account: c.Account, Kind: audit.Operator})
	if err := q.Set(ctx, c.Account, change); err != nil {
		return err
	}
	own, err := q.Overrides(ctx, c.Account)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(to.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "QUOTA\tLIMIT\tSET BY") // Flush returns the error
	for _, name := range quota.Names() {
		limit, by := set.Server.Quotas[name], "default"
		if value, is := own[name]; is {
			limit, by = value, "account"
		}
		text := "unlimited"
		if limit > 0 {
			text = strconv.FormatInt(limit, 10)
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", name, text, by)
	}
	return w.Flush()
}

// change parses the quotas to set.
func (c quotaCommand) change() (quota.Limits, error) {
	out := quota.Limits{}
	for _, pair := range c.Set {
		name, value, _ := strings.Cut(pair, "=")
		if !slices.Contains(quota.Names(), quota.Name(name)) {
			return nil, &settingError{"NAME=VALUE", "the name must be one of " + quotaNames()}
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if value == "default" {
			n, err = -1, nil
		} else if n < 0 {
			err = strconv.ErrRange
		}
		if err != nil {
			return nil, &settingError{"NAME=VALUE", "the value of " + name + " must be a whole number of at least 0, or default"}
		}
		out[quota.Name(name)] = n
	}
	return out, nil
}

func quotaNames() string {
	var names []string
	for _, n := range quota.Names() {
		names = append(names, string(n))
	}
	return strings.Join(names, ", ")
}

// quotas returns the defaults of all accounts.
func (c *checker) quotas(f flags) quota.Limits {
	out := quota.Limits{}
	given := map[quota.Name]string{
		quota.References: or(f.QuotaReferences, "100"), quota.Contacts: or(f.QuotaContacts, "1000000"),
		quota.Storage: or(f.QuotaStorage, "107374182400"), quota.Messages: or(f.QuotaMessages, "1000000"),
		quota.Runs: or(f.QuotaRuns, "1000000"), quota.API: or(f.QuotaAPI, "12000"),
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		out[name] = int64(c.number("quota-"+string(name), given[name], 0))
	}
	return out
}
