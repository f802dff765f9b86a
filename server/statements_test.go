package server_test

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

var updateStatements = flag.Bool("update-statements", false, "write testdata/statements.txt")

const statementsFile = "testdata/statements.txt"

// statements counts what a database is asked for a message, by package.
type statements struct {
	db   *testkit.Asked
	idle map[string]bool // texts that are asked while nothing happens
}

// owner finds the package of a statement: its tables begin with its name.
var owner = regexp.MustCompile(`\b(messaging|webhook|queue|flow|memory|botengine|bot|aiflow|extractor|auth|auditlog|quota|usage|job|web|credential|knowledge)_[a-z]`)

// TestStatementsOfAMessage counts the statements of a message on its way, and fails
// when they are more than testdata/statements.txt says. Polls and heartbeats are left
// out, as they depend on time. Messages come one by one: under load they share
// transactions. Write the file with
//
//	go test ./server -run TestStatementsOfAMessage -update-statements
func TestStatementsOfAMessage(t *testing.T) {
	if *updateStatements {
		require.NoError(t, os.WriteFile(statementsFile, nil, 0o600))
	}
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(srv.Close)
		seen, asked := testkit.Counting(t, db)
		f := working(t, setupOn(t, seen, func(c *server.Config) { c.WebhookAllow = []string{"127.0.0.1"} }))
		ana := f.as(t, "ana")
		quiet, heard, answered := ana.sandbox(t), ana.sandbox(t), ana.sandbox(t)
		for _, ref := range []int{heard, answered} {
			ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q,"events":["message"]}`, ref, srv.URL)).json(201)
		}
		ana.bot(t, answered, echoFlow("always", onAnything))
		s := &statements{db: asked}
		cases := []struct {
			name string
			do   func()
		}{
			{"inbound", func() { ana.write(t, quiet, "bob", "Hello"); f.rest(t) }},
			{"inbound, a webhook", func() { ana.write(t, heard, "bob", "Hello"); f.rest(t) }},
			{"inbound, a webhook, a bot answers", func() { ana.write(t, answered, "bob", "Hello"); f.rest(t) }},
			{"sent", func() { ana.send(t, quiet, "Hello"); f.rest(t) }},
		}
		for _, c := range cases {
			for range 8 { // statements are prepared, caches filled
				c.do()
			}
		}
		s.rest()
		for _, c := range cases {
			s.check(t, db.DriverName()+", "+c.name, c.do)
		}
	})
}

// rest waits until no queue has work, in the order in which work goes on.
func (f fixture) rest(t *testing.T) {
	t.Helper()
	for _, stats := range []func() int64{
		func() int64 { n, _, err := f.Runs.QueueStats(t.Context()); require.NoError(t, err); return n },
		func() int64 { n, _, err := f.Messaging.QueueStats(t.Context()); require.NoError(t, err); return n },
		func() int64 { n, _, err := f.Webhooks.QueueStats(t.Context()); require.NoError(t, err); return n },
	} {
		require.Eventually(t, func() bool { return stats() == 0 }, eventually, time.Millisecond)
	}
}

// rest learns what is asked while nothing happens.
func (s *statements) rest() {
	before := s.db.Texts()
	time.Sleep(4 * time.Second)
	s.idle = map[string]bool{}
	for text, n := range s.db.Texts() {
		if n > before[text] {
			s.idle[text] = true
		}
	}
}

const statementRounds = 20

// check counts what do asks, and compares it with the file.
func (s *statements) check(t *testing.T, name string, do func()) {
	t.Helper()
	before, transactions := s.db.Texts(), s.db.Transactions.Load()
	for range statementRounds {
		do()
	}
	byPackage, all := map[string]int{}, 0
	for text, n := range s.db.Texts() {
		if n -= before[text]; n == 0 || s.idle[text] || strings.Contains(text, "SUM(CASE WHEN holder") || strings.Contains(text, "SELECT COUNT(*) FROM queue_subscriber") {
			continue
		}
		of := "other"
		if m := owner.FindStringSubmatch(text); m != nil {
			of = m[1]
		}
		byPackage[of] += n
		all += n
	}
	each := func(n int) int { return (n + statementRounds/2) / statementRounds }
	line := fmt.Sprintf("%s: %d statements, %d transactions", name, each(all), each(int(s.db.Transactions.Load()-transactions)))
	var parts []string
	for of, n := range byPackage {
		parts = append(parts, fmt.Sprintf("%s %d", of, each(n)))
	}
	slices.SortFunc(parts, func(a, b string) int { return cmp.Compare(a, b) })
	t.Log(line, "(", strings.Join(parts, ", "), ")")
	if *updateStatements {
		out, err := os.OpenFile(statementsFile, os.O_APPEND|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = fmt.Fprintln(out, line)
		require.NoError(t, err)
		require.NoError(t, out.Close())
		return
	}
	known, err := os.ReadFile(statementsFile)
	require.NoError(t, err)
	for l := range strings.Lines(string(known)) {
		rest, ok := strings.CutPrefix(l, name+": ")
		if !ok {
			continue
		}
		var most, commits int
		_, err := fmt.Sscanf(rest, "%d statements, %d transactions", &most, &commits)
		require.NoError(t, err)
		require.LessOrEqual(t, each(all), most, "%s: more statements than %s says: %v", name, statementsFile, parts)
		require.LessOrEqual(t, each(int(s.db.Transactions.Load()-transactions)), commits, "%s: more transactions", name)
		return
	}
	require.Fail(t, name+" is not in "+statementsFile)
}
