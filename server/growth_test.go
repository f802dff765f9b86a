package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// grown is a server of which the account ana has more and more of everything.
type grown struct {
	client
	db    *sqlx.DB
	asked *testkit.Asked
	ref   int
	flow  string
	run   string
	quiet string // an endpoint without deliveries
	began time.Time
	rows  int // of each table that grows
}

// TestGrowth counts the blocks that the server reads for what people look at, when there
// are 2,000 messages, chats, deliveries, runs, calls and entries, and when there are
// 30,000 of each, or as many as GROWTH says: no page reads twice as much.
func TestGrowth(t *testing.T) {
	t.Parallel()
	large := testkit.Number("GROWTH", 30_000)
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		g := seeded(t, db)
		g.grow(t, 2000)
		before := g.measure(t)
		g.grow(t, large)
		after := g.measure(t)
		var grew []string
		for _, name := range slices.Sorted(maps.Keys(before)) {
			t.Logf("%-28s %6d %6d", name, before[name], after[name])
			if after[name] > max(2*before[name]+50+g.searched(name), bounded[name]) { // larger indexes have more levels, and of text more segments
				grew = append(grew, name)
			}
		}
		require.Empty(t, grew, "these read more than twice as many blocks")
	})
}

// seeded makes an account with one of everything. The server that is returned has no
// workers, so that only requests ask its database.
func seeded(t *testing.T, db *sqlx.DB) *grown {
	t.Helper()
	seen, asked := testkit.Counting(t, db)
	g := &grown{db: db, asked: asked, began: time.Now()}
	require.True(t, t.Run("seed", func(t *testing.T) {
		ana := working(t, setupOn(t, db, local)).as(t, "ana")
		g.token, g.ref = ana.token, ana.sandbox(t)
		ana.hook(t, g.ref, 200)
		g.flow = ana.boundFlow(t, g.ref, echoFlow("echo", onAnything), "1")
		ana.write(t, g.ref, "ana", "Hello")
		ana.awaitShown(t, g.ref, "ana", "out: Hello", "in: I am echo.")
		ana.deliveries(t, g.ref, "&state=delivered", 2)
		ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"ana","name":"Ana Quintana"}`, g.ref)).json(200)
		quiet := fmt.Sprintf(`{"reference":%d,"webhook":"http://127.0.0.1:1/","events":["calls"]}`, g.ref)
		g.quiet = ana.call(t, "POST", "/references/registerWebHook", quiet).json(201)["endpointId"].(string)
		run := ana.call(t, "GET", "/aiflow/run", "").json(200)["items"].([]any)[0].(map[string]any)["id"].(string)
		g.run = run[:24] + "100000000077"
		ana.used(t, "gpt-5", "ana@sandbox", g.ref, llm.Usage{Known: true, Input: 1001, Output: 10})
	}))
	g.fixture = setupOn(t, seen, local)
	return g
}

// grow copies the rows of the account until each table has n of them. Every chat has ten
// messages, and every twentieth of the first thousand deliveries and runs failed.
func (g *grown) grow(t *testing.T, n int) {
	t.Helper()
	const (
		number = `1000000 + n` // of a row, where another table names it
		chatID = `'c' || n || '@sandbox'`
		failed = `n <= 1000 AND n % 20 = 0`
		at     = `(at_us - n * 60000000)`   // of a message
		window = `(` + at + ` >> 40) || '.` // of the index of words
		some   = `CASE WHEN n % 20 = 0 THEN `
	)
	for _, table := range []struct {
		name, oldest string
		set          map[string]string
	}{
		{"messaging_chat", "id", map[string]string{
			"id": number, "chat_id": chatID, "name": `'Contact ' || n`, "label": `''`, "last_message": number,
			"activity_us": `activity_us - n * 1000000`, "activity_slot": `(activity_us - n * 1000000) / 600000000`,
		}},
		{"messaging_alias", "chat", map[string]string{"alias": chatID, "chat": number}},
		{"messaging_message", "seq", map[string]string{
			"seq": number, "id": `'in' || n`, "chat": `1000000 + (n + 9) / 10`, "at_us": at,
			"body": `'{"type":"text","text":"Hello w' || n || ' ' || ` + some + `'sometimes' ELSE '' END || '"}'`,
		}},
		{"messaging_search", "message", map[string]string{
			"message": number, "source": number, "at_us": at,
			"words": `' ' || ` + window + `@' || reference || ' ' || ` + window + `#' || (1000000 + (n + 9) / 10) || ' ~28.' || (` + at + ` >> 28) || ' ~31.' || (` + at + ` >> 31)
				|| ' ~34.' || (` + at + ` >> 34) || ' ~37.' || (` + at + ` >> 37) || ' ' || ` + window + `hello ' || ` + window + `w' || n || ' ' || ` + some + window + `sometimes ' ELSE '' END`,
		}},
		{"messaging_change", "id", nil},
		{"webhook_event", "number", map[string]string{"number": number, "id": `'event' || n`, "chat_id": chatID, "message_id": `'in' || n`}},
		{"webhook_attempt", "id", map[string]string{"event": number, "seq": `seq + n`, "outcome": `CASE WHEN ` + failed + ` THEN 'dead' ELSE outcome END`}},
		{"flow_run", "seq", map[string]string{
			"seq": number, "id": `substr(id, 1, 24) || (100000000000 + n)`, "inbox": `inbox || n`, "chat_id": chatID, "started_us": `started_us - n * 10000000`,
			"status": `CASE WHEN ` + failed + ` THEN 'failed' ELSE status END`, "error": `CASE WHEN ` + failed + ` THEN '{}' ELSE error END`,
		}},
		{"flow_step", "id", map[string]string{"run": number}},
		{"flow_sent", "id", map[string]string{"run": number, "message": `'out' || n`}},
		{"flow_route", "id", map[string]string{"chat_id": chatID, "message": `'in' || n`}},
		{"usage_call", "seq", map[string]string{"id": `'call' || n`, "chat_id": chatID, "at_us": `at_us - n * 1000000`}},
		{"auditlog_entry", "id", map[string]string{"object_id": `'object' || n`}},
	} {
		g.multiply(t, table.name, table.oldest, g.rows+1, n, table.set)
		if g.db.DriverName() == "postgres" {
			g.exec(t, `VACUUM `+table.name)
		}
	}
	g.rows = n
	// As the workers leave them, who count what is older than a minute.
	for counter, ids := range map[string]string{
		"flow": `SELECT MAX(seq) FROM flow_run`, "messaging": `SELECT MAX(seq) FROM messaging_message`, "webhook": `SELECT MAX(id) FROM webhook_attempt`,
	} {
		g.exec(t, `DELETE FROM usagecounter_mark WHERE name = '`+counter+`'`)
		g.exec(t, `INSERT INTO usagecounter_mark (name, counted) VALUES ('`+counter+`', (`+ids+`))`)
	}
	g.exec(t, `DELETE FROM messaging_contact_count`)
	g.exec(t, `INSERT INTO messaging_contact_count (reference, counted, n) SELECT reference, MAX(id), COUNT(*) FROM messaging_chat WHERE NOT is_group GROUP BY reference`)
	g.exec(t, `DELETE FROM usage_slot`)
	g.exec(t, `UPDATE usage_account SET rolled_us = 0`)
	ledger, err := usage.New(t.Context(), g.db, nil)
	require.NoError(t, err)
	require.NoError(t, ledger.RollUp(t.Context()))
	g.exec(t, `ANALYZE`)
}

// bounded are the blocks of what may read more where there is more, up to so many: a
// search that finds its words in messages, but not behind each other, looks at 500.
// So does one for a word that many messages have, whose newest it sorts. A report reads
// the calls of the last half hour, of which there is one a second, and a list of chats
// with a filter looks at 1,000, twice.
var bounded = map[string]int{
	"search, a phrase of none": 10_000, "search, a word of some": 2000, "search, one letter": 2000, "chats, of a tag": 5000,
	"usage by day": 4000, "usage by day and model": 4000, "usage by hour and flow": 4000, "usage by reference": 4000, "usage of a model": 4000,
}

// searched is how many blocks a search may read because it looks at one window of 12.7
// days after the other; there is a message a minute.
func (g *grown) searched(name string) int {
	if !strings.HasPrefix(name, "search") {
		return 0
	}
	windows := 1 + g.rows*60/(1<<40/1_000_000)
	if g.db.DriverName() == "sqlite" {
		return 100 * windows
	}
	return 20 * windows
}

func (g *grown) exec(t *testing.T, statement string) {
	t.Helper()
	_, err := g.db.ExecContext(t.Context(), statement)
	require.NoError(t, err, statement)
}

// rowsAtOnce are inserted by a statement: a longer one would be taken for one that hangs.
const rowsAtOnce = 50_000

// multiply copies the oldest row of a table for each n, with columns set to expressions.
func (g *grown) multiply(t *testing.T, table, oldest string, from, to int, set map[string]string) {
	t.Helper()
	rows, err := g.db.QueryContext(t.Context(), `SELECT * FROM `+table+` LIMIT 0`)
	require.NoError(t, err)
	defer rows.Close() //nolint:errcheck // Err returns the error
	columns, err := rows.Columns()
	require.NoError(t, err)
	require.NoError(t, rows.Err())
	require.NoError(t, rows.Close())
	series, overriding := `generate_series(CAST(%d AS BIGINT), %d) AS s (n)`, `OVERRIDING SYSTEM VALUE`
	if g.db.DriverName() == "sqlite" {
		series, overriding = `(WITH RECURSIVE s (n) AS (SELECT %d UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s) AS s`, ""
	}
	var names, values []string
	for _, c := range columns {
		value, given := set[c]
		switch {
		case given:
		case c == "id" || c == "seq" && table == "usage_call":
			continue // the next number
		default:
			value = c
		}
		names, values = append(names, c), append(values, value)
	}
	insert := fmt.Sprintf(`INSERT INTO %s (%s) %s SELECT %s FROM (SELECT * FROM %s ORDER BY %s LIMIT 1) AS one CROSS JOIN `,
		table, strings.Join(names, ", "), overriding, strings.Join(values, ", "), table, oldest)
	for ; from <= to; from += rowsAtOnce {
		g.exec(t, insert+fmt.Sprintf(series, from, min(to, from+rowsAtOnce-1)))
	}
}

// measure returns how many blocks each operation reads.
func (g *grown) measure(t *testing.T) map[string]int {
	t.Helper()
	ref := fmt.Sprintf("reference=%d", g.ref)
	chat := ref + "&chatId=c7@sandbox"
	out := map[string]int{}
	for name, path := range map[string]string{
		"references":                  "/reference/list",
		"chats":                       "/chats/list?" + ref,
		"chats, by name":              "/chats/list?search=quint&" + ref,
		"chats, nothing found":        "/chats/list?search=zebra&" + ref,
		"messages":                    "/chats/messages?" + chat,
		"messages, failed":            "/chats/messages?status=FAIL&" + chat,
		"search":                      "/chats/messages/search?q=w1999+hello",
		"search, a common word":       "/chats/messages/search?q=hello",
		"search, a word of some":      "/chats/messages/search?q=sometimes",
		"search, one letter":          "/chats/messages/search?q=s",
		"search, nothing found":       "/chats/messages/search?q=zebra",
		"search, a phrase of none":    "/chats/messages/search?q=%22sometimes+hello%22",
		"search, of a chat":           "/chats/messages/search?q=hello&" + chat,
		"explain":                     "/chats/explain?messageId=in66&" + chat,
		"export":                      "/chats/export?" + chat,
		"phone":                       fmt.Sprintf("/sandbox/%d/messages", g.ref),
		"phone of a contact":          fmt.Sprintf("/sandbox/%d/messages?from=c7", g.ref),
		"deliveries":                  "/references/deliveries?" + ref,
		"deliveries, pending":         "/references/deliveries?state=pending&" + ref,
		"chats, of a tag":             "/chats/list?tag=nobody&" + ref,
		"deliveries, delivered":       "/references/deliveries?state=delivered&" + ref,
		"deliveries, failed":          "/references/deliveries?state=failed&" + ref,
		"deliveries, dead":            "/references/deliveries?state=dead&" + ref,
		"deliveries, of a chat":       "/references/deliveries?" + chat,
		"deliveries, of a message":    "/references/deliveries?messageId=in66&" + ref,
		"deliveries, of a type":       "/references/deliveries?event=calls&" + ref,
		"deliveries, of a type, dead": "/references/deliveries?event=calls&state=dead&" + ref,
		"deliveries, to an endpoint":  "/references/deliveries?endpoint=" + g.quiet + "&" + ref,
		"runs":                        "/aiflow/run",
		"runs, of a flow":             "/aiflow/run?flowId=" + g.flow,
		"runs, failed":                "/aiflow/run?status=failed",
		"runs, failed, of a flow":     "/aiflow/run?status=failed&flowId=" + g.flow,
		"runs, running":               "/aiflow/run?status=running",
		"runs, waiting":               "/aiflow/run?status=waiting",
		"runs, cancelled":             "/aiflow/run?status=cancelled",
		"runs, cancelled, of a flow":  "/aiflow/run?status=cancelled&flowId=" + g.flow,
		"run":                         "/aiflow/run/" + g.run,
		"audit":                       "/audit",
		"audit, of an object":         "/audit?objectId=object77",
		"audit, of a type":            "/audit?objectType=flow",
		"audit, of an action":         "/audit?action=reference.delete",
		"audit, of a reference":       "/audit?reference=77",
		"audit, of a user":            "/audit?user=nobody",
		"audit, of operators":         "/audit?kind=operator",
		"usage, ten minutes":          fmt.Sprintf("/aiusage/rollup?groupBy=hour&from=%d&to=%d", g.began.Add(-10*time.Minute).Unix(), g.began.Add(time.Minute).Unix()),
		"usage by day":                "/aiusage/rollup?groupBy=day",
		"usage by day and model":      "/aiusage/rollup?groupBy=day,model&timezone=Asia/Kathmandu",
		"usage by hour and flow":      fmt.Sprintf("/aiusage/rollup?groupBy=hour,flow&from=%d", g.began.Add(-20*24*time.Hour).Unix()),
		"usage by reference":          "/aiusage/rollup?groupBy=reference,feature",
		"usage of a model":            "/aiusage/rollup?groupBy=month&model=gpt-5",
		"account":                     "/account",
		"calls of models":             "/aiusage/detail",
		"calls of models, of a chat":  "/aiusage/detail?chat=c7@sandbox&" + ref,
		"calls of models, of a model": "/aiusage/detail?model=other",
		"calls of models, of a user":  "/aiusage/detail?user=nobody",
	} {
		for _, s := range g.asked.Record(func() { g.call(t, "GET", path, "").json(http.StatusOK) }) {
			out[name] += g.blocks(t, s)
		}
	}
	return out
}

// blocks returns how many blocks of tables and indexes a statement reads.
func (g *grown) blocks(t *testing.T, s testkit.Statement) int {
	t.Helper()
	if verb, _, _ := strings.Cut(strings.TrimSpace(s.Text), " "); verb != "SELECT" && verb != "WITH" {
		return 0
	}
	if g.db.DriverName() == "sqlite" {
		return g.blocksOfSQLite(t, s)
	}
	tx, err := g.db.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback()) }()
	var plan string
	require.NoError(t, tx.GetContext(t.Context(), &plan, `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) `+s.Text, s.Args...), s.Text)
	var top []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(plan), &top))
	return top[0].Plan.Hit + top[0].Plan.Read
}

// blocksOfSQLite runs a statement on a connection of its own, and returns how many
// blocks that took, from its cache or not.
func (g *grown) blocksOfSQLite(t *testing.T, s testkit.Statement) int {
	t.Helper()
	conn, err := g.db.Connx(t.Context())
	require.NoError(t, err)
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	blocks := func() (n int) {
		require.NoError(t, conn.Raw(func(c any) error {
			for _, op := range []sqlite.DBStatusOp{sqlite.DBStatusCacheHit, sqlite.DBStatusCacheMiss} {
				asked, _, err := c.(sqlite.DBStatus).Status(op, false)
				if err != nil {
					return err
				}
				n += asked
			}
			return nil
		}))
		return n
	}
	tx, err := conn.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback()) }()
	before := blocks()
	rows, err := tx.QueryContext(t.Context(), s.Text, s.Args...)
	require.NoError(t, err, s.Text)
	defer rows.Close() //nolint:errcheck // Err returns the error
	for rows.Next() {
		continue
	}
	require.NoError(t, rows.Err(), s.Text)
	return blocks() - before
}
