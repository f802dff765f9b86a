package auditlog

import (
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/internal/page"
)

const (
	// MaxCSV is how many entries one CSV document has at most.
	MaxCSV   = 50_000
	csvChunk = 500 // entries that are read at a time
)

var csvHeader = []string{
	"id", "time", "action", "kind", "user", "email", "token", "run", "address", "request", "object type", "object id", "object name", "reference", "details",
}

// Export is a CSV document that is to be written.
type Export struct {
	s       *Store
	account string
	filter  Filter
	before  int64
	last    int64 // the id of the last entry; 0: there are not so many
	// Next is the cursor of the document that continues, "" if this is the last.
	Next string
}

// Export prepares a document of at most max entries of an account, newest
// first; Filter.Limit does not matter. The error of a cursor that is not valid
// is a [*apierr.Invalid].
func (s *Store) Export(ctx context.Context, account string, f Filter, max int) (*Export, error) {
	before, _, err := page.List{Cursor: f.Cursor}.Parse()
	if err != nil {
		return nil, err
	}
	x := &Export{s: s, account: account, filter: f, before: before}
	where, args := f.where(account, before)
	args = append(args, 2, max-1)
	var ids []int64
	err = s.db.SelectContext(ctx, &ids, fmt.Sprintf(`SELECT id FROM auditlog_entry WHERE %s ORDER BY id DESC LIMIT $%d OFFSET $%d`,
		where, len(args)-1, len(args)), args...)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("measuring the audit log: %w", err)
	}
	if len(ids) == 2 {
		x.last, x.Next = ids[0], strconv.FormatInt(ids[0], 36)
	}
	return x, nil
}

// Write writes the document to w, as it is read. What a spreadsheet would take
// for a formula begins with an apostrophe.
func (x *Export) Write(ctx context.Context, w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write(csvHeader) // the error is that of Flush
	for before := x.before; ; {
		rows, err := x.s.rows(ctx, x.account, x.filter, before, csvChunk)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.ID < x.last {
				rows = nil
				break
			}
			_ = out.Write(r.cells())
			before = r.ID
		}
		out.Flush()
		if err := out.Error(); err != nil || len(rows) < csvChunk {
			return err
		}
	}
}

func (r entryRow) cells() []string {
	reference := ""
	if r.Reference != 0 {
		reference = strconv.FormatInt(r.Reference, 10)
	}
	e := r.entry()
	cells := []string{
		e.ID, e.At.Format(time.RFC3339), r.Action, r.Kind, r.User, r.Email, r.Token, r.Run, r.Address, r.Request, r.ObjectType, r.ObjectID, r.ObjectName,
		reference, r.Details,
	}
	for i, c := range cells {
		cells[i] = harmless(c)
	}
	return cells
}

// harmless keeps a text from being a formula.
func harmless(s string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " "))
	if strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + s
	}
	return s
}
