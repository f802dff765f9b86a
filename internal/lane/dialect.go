package lane

import (
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
//   - {seen}: the database's clock, for the heartbeats of nodes;
//   - {lock}: locks the rows that a query selects. SQLite has one writer and
//     needs none;
//   - {skip}: the same, passing over rows that others have locked;
//   - $%: a parameter of params. SQLite gets "?": "$7" would be a name there,
//     and it looks names up one after the other.
type dialect struct {
	words *strings.Replacer
	texts sync.Map         // text with words → text of the dialect
	clock func() time.Time // Options.Now
}

func newDialect(d database.Dialect, clock func() time.Time) *dialect {
	now, lock, skip, param := `CAST(unixepoch('subsec') * 1000000 AS BIGINT)`, "", "", "?"
	if d == database.Postgres {
		now = `CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT)`
		lock, skip, param = "FOR UPDATE", "FOR UPDATE SKIP LOCKED", "$%"
	}
	words := []string{"{seen}", now, "{lock}", lock, "{skip}", skip, "$%", param}
	if clock == nil {
		words = append(words, "{now}", now)
	}
	return &dialect{words: strings.NewReplacer(words...), clock: clock}
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

// params writes row n times, as in a VALUES list. Each % in it becomes the
// number of the next parameter, counting from first.
func params(row string, n, first int) string {
	parts := strings.Split(row, "%")
	var b strings.Builder
	b.Grow(n * (len(row) + 4*len(parts)))
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(parts[0])
		for _, p := range parts[1:] {
			b.WriteString(strconv.Itoa(first))
			b.WriteString(p)
			first++
		}
	}
	return b.String()
}

// numbers writes rows of numbers, "(1,2),(3,4)", straight into a text: they
// need no quoting, and neither driver is quick with thousands of parameters.
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
