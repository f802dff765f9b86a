package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
	"github.com/trunklinehq/trunkline/internal/text"
)

// AuditFilter selects calls; empty fields allow all.
type AuditFilter struct {
	User     string
	Function string
	Outcome  string    // "ok", or the code of an error
	From, To time.Time // answered at From or later, before To
	Limit    int       // maximum 200; 0: 50
	Cursor   string    // Page.Next of the previous page
}

// Page is a page of a list.
type Page[T any] = page.Page[T]

// AuditEntry is a call.
type AuditEntry struct {
	ID       string
	At       time.Time // when it was answered
	User     string
	Token    string // the scoped token that was used; "": none
	Function string
	// Arguments is a JSON object with the arguments. A text in brackets, such as
	// "[masked]", replaces a value that is left out.
	Arguments json.RawMessage
	DryRun    bool
	Outcome   string // "ok", or the code of the error
	Duration  time.Duration
}

// Audit lists calls, the newest first. An invalid filter is an [*Error] with the code
// [CodeInvalidArguments], which names the fields as the REST API does.
func (a *Account) Audit(ctx context.Context, f AuditFilter) (Page[AuditEntry], error) {
	before, size, failed := f.check()
	if failed != nil {
		return Page[AuditEntry]{}, failed
	}
	to := int64(math.MaxInt64)
	if !f.To.IsZero() {
		to = database.Micros(f.To)
	}
	var rows []auditRow
	err := a.r.db.SelectContext(ctx, &rows, `SELECT id, `+auditColumns+` FROM mcp_audit
		WHERE account = $1 AND id < $2 AND ($3 = '' OR caller = $3) AND ($4 = '' OR function = $4) AND ($5 = '' OR outcome = $5)
		AND at_us >= $6 AND at_us < $7 ORDER BY id DESC LIMIT $8`,
		a.id, before, f.User, f.Function, f.Outcome, database.Micros(f.From), to, size+1)
	if err != nil {
		return Page[AuditEntry]{}, fmt.Errorf("listing calls: %w", err)
	}
	return page.Cut(rows, size, func(r auditRow) int64 { return r.ID }, auditRow.entry), nil
}

// check returns the id before which the page begins, and its size.
func (f *AuditFilter) check() (before int64, size int, failed *Error) {
	failed = refusal(CodeInvalidArguments, "the filter is not valid")
	before, size, err := page.List{Limit: f.Limit, Cursor: f.Cursor}.Parse()
	if wrong, ok := errors.AsType[*apierr.Invalid](err); ok {
		failed.Details = append(failed.Details, Detail{wrong.Field, wrong.Message})
	}
	before = cmp.Or(before, math.MaxInt64)
	for _, filter := range []struct{ name, value string }{{"user", f.User}, {"function", f.Function}, {"outcome", f.Outcome}} {
		if text.Sanitize(filter.value) != filter.value {
			failed.Details = append(failed.Details, Detail{filter.name, "must be UTF-8 without U+0000"})
		}
	}
	if len(failed.Details) > 0 {
		return 0, 0, failed
	}
	return before, size, nil
}

func (r auditRow) entry() AuditEntry {
	return AuditEntry{
		ID: strconv.FormatInt(r.ID, 10), At: database.Time(r.At), User: r.Caller, Token: r.Token, Function: r.Function,
		Arguments: json.RawMessage(r.Arguments), DryRun: r.DryRun, Outcome: r.Outcome, Duration: time.Duration(r.Duration) * time.Microsecond,
	}
}
