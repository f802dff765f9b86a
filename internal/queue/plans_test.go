package queue_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

var updatePlans = flag.Bool("update-plans", false, "write testdata/plans.*.txt")

// TestPlans holds the statements that every job needs to their texts and to the indexes
// by which a database finds their rows, in a table of many partitions and jobs. A
// statement that reads a whole table fails. Write the files with
//
//	go test ./internal/queue -run TestPlans -update-plans
func TestPlans(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seen, asked := testkit.Counting(t, db)
		retried := make(chan struct{})
		q := newQueue(t, seen, queue.Options{Workers: 1, Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			if it.Attempt == 0 {
				return queue.Outcome{Result: queue.Retry, After: 1}
			}
			close(retried)
			return queue.Outcome{}
		}})
		fillQueue(t, db)
		before := asked.Texts()
		stop := start(t, q)
		put(t, seen, q, queue.JobArgs{Subscriber: "own", Key: "k", Subject: "1"})
		<-retried
		idle(t, q)
		stop()
		texts := map[string]string{}
		for text, n := range asked.Texts() {
			name := named(text)
			if known := texts[name]; n > before[text] && name != "" && (known == "" || len(text) < len(known)) {
				texts[name] = text
			}
		}
		var got strings.Builder
		for _, name := range planned[db.DriverName()] {
			require.NotEmpty(t, texts[name], "the statement %q was not asked", name)
			fmt.Fprintf(&got, "%s\n\t%s\n", name, numbers.ReplaceAllString(space.ReplaceAllString(texts[name], " "), "(VALUES (…))"))
			for _, by := range plan(t, db, name, texts[name]) {
				fmt.Fprintf(&got, "\t→ %s\n", by)
			}
		}
		file := filepath.Join("testdata", "plans."+db.DriverName()+".txt")
		if *updatePlans {
			require.NoError(t, os.WriteFile(file, []byte(got.String()), 0o600))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), got.String())
		require.NotContains(t, got.String(), wholeTable)
	})
}

const wholeTable = "the whole table"

var (
	space   = regexp.MustCompile(`\s+`)
	numbers = regexp.MustCompile(`\(VALUES \([-\d,]+\)\)`) // SQLite gets them in the text
	// planned are the statements of a job on each database, in their order.
	planned = map[string][]string{
		"postgres": {"put", "scan", "claim", "advance"},
		"sqlite":   {"redirects", "put", "add jobs", "scan", "claim", "jobs", "advance", "remove jobs"},
	}
	// beginnings of the statements.
	beginnings = map[string]string{
		"SELECT queue, key, target": "redirects", "WITH v AS": "put", "INSERT INTO queue_partition": "put", "INSERT INTO queue_job": "add jobs",
		"WITH RECURSIVE c": "scan", "WITH c AS MATERIALIZED": "claim", "WITH c (id, head, most)": "jobs",
		"WITH u (partition": "advance", "WITH k (partition": "advance", "DELETE FROM queue_job": "remove jobs",
	}
)

// named returns the name of a statement, or "".
func named(text string) string {
	for begins, name := range beginnings {
		if strings.HasPrefix(text, begins) {
			return name
		}
	}
	return ""
}

// fillQueue makes the tables of a queue so large that no database likes to read all of
// them.
func fillQueue(t *testing.T, db *sqlx.DB) {
	t.Helper()
	count := `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000)`
	exec := func(query string) {
		_, err := db.ExecContext(t.Context(), query)
		require.NoError(t, err)
	}
	exec(`INSERT INTO queue_partition (queue, subscriber, key, tail, ready_us)
		` + count + ` SELECT 'other' || n % 50, 's' || n % 100, 'k' || n, 2, 9000000000000000 FROM n`)
	exec(`INSERT INTO queue_job (partition_id, seq, subject) SELECT id, 1, '' FROM queue_partition UNION ALL SELECT id, 2, '' FROM queue_partition`)
	exec(`INSERT INTO queue_redirect (queue, key, target, at_us) ` + count + ` SELECT 'other' || n % 50, 'gone' || n, 'k' || n, 0 FROM n`)
	exec(`INSERT INTO queue_subscriber (queue, subscriber, paused_us, probe) ` + count + ` SELECT 'other' || n % 50, 'p' || n, 0, '' FROM n`)
	exec(`INSERT INTO queue_review (queue, subscriber, key) ` + count + ` SELECT 'other' || n % 50, 's', 'k' || n FROM n`)
	if db.DriverName() == "postgres" {
		exec(`ANALYZE`)
	}
}

// plan says by which index a database finds the rows of each table, whatever the
// arguments of the statement are.
func plan(t *testing.T, db *sqlx.DB, name, text string) []string {
	t.Helper()
	if db.DriverName() == "postgres" {
		return postgresPlan(t, db, name, text)
	}
	params := strings.Count(text, "?")
	for _, m := range regexp.MustCompile(`\$(\d+)`).FindAllStringSubmatch(text, -1) {
		var n int
		_, err := fmt.Sscan(m[1], &n)
		require.NoError(t, err)
		params = max(params, n)
	}
	var rows []struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	args := make([]any, params)
	for i := range args {
		args[i] = 0
	}
	require.NoError(t, db.Unsafe().SelectContext(t.Context(), &rows, `EXPLAIN QUERY PLAN `+text, args...), text)
	var out []string
	for _, r := range rows {
		m := regexp.MustCompile(`^(SEARCH|SCAN) (\w+)(?: USING (.*))?`).FindStringSubmatch(r.Detail)
		switch {
		case m == nil || m[1] == "SCAN" && slices.Contains([]string{"CONSTANT", "c", "k", "v"}, m[2]): // a list
		case m[1] == "SCAN" && m[3] == "":
			out = append(out, m[2]+": "+wholeTable)
		default:
			out = append(out, m[2]+": "+m[3])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func postgresPlan(t *testing.T, db *sqlx.DB, name, text string) []string {
	t.Helper()
	conn, err := db.Connx(t.Context())
	require.NoError(t, err)
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	exec := func(query string) {
		_, err := conn.ExecContext(t.Context(), query)
		require.NoError(t, err)
	}
	exec(`SET plan_cache_mode = force_generic_plan`)
	if name == "advance" { // see Queue.guard
		exec(`SET enable_seqscan = off`)
	}
	exec(`PREPARE planned AS ` + text)
	var params int
	require.NoError(t, conn.GetContext(t.Context(), &params, `SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'planned'`))
	var raw string
	require.NoError(t, conn.GetContext(t.Context(), &raw, `EXPLAIN (FORMAT JSON) EXECUTE planned (`+strings.TrimSuffix(strings.Repeat("NULL,", params), ",")+`)`))
	exec(`DEALLOCATE planned`)
	exec(`RESET ALL`)
	type node struct {
		Type     string `json:"Node Type"`
		Relation string `json:"Relation Name"`
		Index    string `json:"Index Name"`
		Plans    []node
	}
	var plans []struct{ Plan node }
	require.NoError(t, json.Unmarshal([]byte(raw), &plans))
	var out []string
	var walk func(n node)
	walk = func(n node) {
		switch {
		case n.Type == "Seq Scan":
			out = append(out, n.Relation+": "+wholeTable)
		case n.Index != "":
			out = append(out, regexp.MustCompile(`^queue_[a-z]+`).FindString(n.Index)+": "+n.Index)
		}
		for _, p := range n.Plans {
			walk(p)
		}
	}
	for _, p := range plans {
		walk(p.Plan)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
