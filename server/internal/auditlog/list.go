package auditlog

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

// Filter says which entries are listed; empty fields allow all.
type Filter struct {
	User       string
	Kind       string
	Action     string
	ObjectType string
	ObjectID   string
	Reference  int64
	Since      time.Time // then or later
	Until      time.Time // before
	Limit      int       // at least 1, above 200 it is 200; 0: 50
	Cursor     string    // Page.Next of the page before
}

// Entry is an entry of the log.
type Entry struct {
	ID string
	At time.Time
	audit.Record
	// Details are a JSON object.
	Details json.RawMessage
}

// entryRow is a row of auditlog_entry.
type entryRow struct {
	ID         int64  `db:"id"`
	At         int64  `db:"at_us"`
	Account    string `db:"account"`
	Action     string `db:"action"`
	Kind       string `db:"kind"`
	User       string `db:"user_id"`
	Email      string `db:"email"`
	Token      string `db:"token"`
	Run        string `db:"run"`
	Address    string `db:"address"`
	Request    string `db:"request"`
	ObjectType string `db:"object_type"`
	ObjectID   string `db:"object_id"`
	ObjectName string `db:"object_name"`
	Reference  int64  `db:"reference_id"`
	Details    string `db:"details"`
}

const columns = `at_us, account, action, kind, user_id, email, token, run, address, request, object_type, object_id, object_name, reference_id, details`

func (r entryRow) entry() Entry {
	return Entry{
		ID: strconv.FormatInt(r.ID, 10), At: database.Time(r.At), Details: json.RawMessage(r.Details),
		Record: audit.Record{
			Entry: audit.Entry{
				Action: audit.Action(r.Action), ObjectType: r.ObjectType, ObjectID: r.ObjectID, ObjectName: r.ObjectName, Reference: r.Reference,
			},
			Actor:  audit.Actor{Account: r.Account, Kind: audit.Kind(r.Kind), User: r.User, Email: r.Email, Token: r.Token, Run: r.Run},
			Origin: audit.Origin{Address: r.Address, Request: r.Request},
		},
	}
}

// List lists entries of an account, the newest first. The error of a limit or a cursor that is
// not valid is a [*apierr.Invalid].
func (s *Store) List(ctx context.Context, account string, f Filter) (page.Page[Entry], error) {
	before, size, err := page.List{Limit: f.Limit, Cursor: f.Cursor}.Parse()
	if err != nil {
		return page.Page[Entry]{}, err
	}
	rows, err := s.rows(ctx, account, f, before, size+1)
	if err != nil {
		return page.Page[Entry]{}, err
	}
	return page.Cut(rows, size, func(r entryRow) int64 { return r.ID }, entryRow.entry), nil
}

// rows are at most limit entries before one, 0 for the newest.
func (s *Store) rows(ctx context.Context, account string, f Filter, before int64, limit int) ([]entryRow, error) {
	where, args := f.where(account, before)
	var rows []entryRow
	args = append(args, limit)
	err := s.db.SelectContext(ctx, &rows, `SELECT id, `+columns+` FROM auditlog_entry WHERE `+where+` ORDER BY id DESC LIMIT $`+strconv.Itoa(len(args)), args...)
	if err != nil {
		return nil, fmt.Errorf("listing the audit log: %w", err)
	}
	return rows, nil
}

// where is the condition of a filter. It names only what is asked for, so that
// an index can answer it.
func (f *Filter) where(account string, before int64) (text string, args []any) {
	var b strings.Builder
	b.WriteString(`account = $1`)
	args = []any{account}
	and := func(condition string, value any) {
		args = append(args, value)
		fmt.Fprintf(&b, " AND %s $%d", condition, len(args))
	}
	if before > 0 {
		and(`id <`, before)
	}
	for _, c := range []struct{ condition, value string }{
		{`user_id =`, f.User}, {`kind =`, f.Kind}, {`action =`, f.Action}, {`object_type =`, f.ObjectType}, {`object_id =`, f.ObjectID},
	} {
		if c.value != "" {
			and(c.condition, clean(c.value))
		}
	}
	if f.Reference != 0 {
		and(`reference_id <> 0 AND reference_id =`, f.Reference) // which its index has
	}
	if !f.Since.IsZero() {
		and(`at_us >=`, database.Micros(f.Since))
	}
	if !f.Until.IsZero() {
		and(`at_us <`, database.Micros(f.Until))
	}
	return b.String(), args
}
