package queue

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// dialect completes the SQL texts of this package. In them stand
//
//   - {now}: the queue's clock in microseconds: the database's, so that nodes
//     need not agree on the time, or that of Options.Now;
//   - {blocked}: the ready_us of a partition that waits for others to be empty;
//   - {seen}: the database's clock, for the heartbeats of nodes;
//   - {frozen}: how long PostgreSQL waits for a node within a transaction;
//   - {lock}: locks the rows that a query selects. SQLite has one writer and
//     needs none;
//   - {skip}: the same, passing over rows that others have locked;
//   - {lazy}: a further condition, which holds and makes the commit lazy. On
//     SQLite [database.DB.WriteLazy] does that.
type dialect struct {
	name  database.Dialect
	words *strings.Replacer
	texts sync.Map         // text with words → text of the dialect
	clock func() time.Time // Options.Now
}

func newDialect(d database.Dialect, clock func() time.Time, frozen time.Duration) *dialect {
	now, lock, skip, lazy := d.Now(), "", "", ""
	if d == database.Postgres {
		lock, skip, lazy = "FOR UPDATE", "FOR UPDATE SKIP LOCKED", "AND (SELECT "+database.LazySQL+") = 'off'"
	}
	words := []string{"{blocked}", strconv.FormatInt(blockedUntil, 10), "{seen}", now, "{frozen}", fmt.Sprintf("'%ds'", max(1, int(frozen.Seconds()))), "{lock}", lock, "{skip}", skip, "{lazy}", lazy}
	if clock == nil {
		words = append(words, "{now}", now)
	}
	return &dialect{name: d, words: strings.NewReplacer(words...), clock: clock}
}

// nowUS is the time of Options.Now in microseconds, 0 for the database's clock.
func (d *dialect) nowUS() int64 {
	if d.clock == nil {
		return 0
	}
	return database.Micros(d.clock())
}

func (d *dialect) text(s string) string {
	t, ok := d.texts.Load(s)
	if !ok {
		t = d.words.Replace(s)
		d.texts.Store(s, t)
	}
	if d.clock == nil {
		return t.(string)
	}
	now := "CAST(" + strconv.FormatInt(database.Micros(d.clock()), 10) + " AS BIGINT)"
	return strings.ReplaceAll(t.(string), "{now}", now)
}

// list is a list of rows of numbers, to be behind FROM or IN, and its
// arguments. SQLite gets them in the text: they need no quoting, and it is not
// quick with thousands of parameters. PostgreSQL gets an array per column.
func (d *dialect) list(first int, rows [][]int64) (string, []any) {
	if d.name != database.Postgres {
		return "VALUES " + numbers(rows), nil
	}
	columns, args := make([]string, len(rows[0])), make([]any, len(rows[0]))
	for i := range columns {
		columns[i] = "CAST($" + strconv.Itoa(first+i) + " AS BIGINT[])"
		b := append(make([]byte, 0, 16*len(rows)), '{')
		for j, row := range rows {
			if j > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, row[i], 10)
		}
		args[i] = string(append(b, '}'))
	}
	return "SELECT * FROM unnest(" + strings.Join(columns, ",") + ")", args
}

// numbers writes rows of numbers, "(1,2),(3,4)", straight into a text.
func numbers(rows [][]int64) string {
	b := make([]byte, 0, 32*len(rows))
	for i, row := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '(')
		for j, v := range row {
			if j > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, v, 10)
		}
		b = append(b, ')')
	}
	return string(b)
}
