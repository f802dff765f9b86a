package server_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

var updateStatements = flag.Bool("update-statements", false, "write testdata/statements.txt")

const statementsFile = "testdata/statements.txt"

// statements counts what a database is asked for a message.
type statements struct {
	db   *testkit.Asked
	idle map[string]bool // texts that are asked while nothing happens
}

// owner finds the package of a statement: its tables begin with its name.
var owner = regexp.MustCompile(`\b(messaging|webhook|queue|flow|memory|botengine|bot|aiflow|extractor|auth|auditlog|quota|usage|job|web|credential|knowledge)_[a-z]`)

// uncounted are statements of the test, of group commits, and notifications, which
// depend on the time.
var uncounted = regexp.MustCompile(`SUM\(CASE WHEN holder|COUNT\(\*\) FROM queue_subscriber|^SAVEPOINT|^RELEASE|^PRAGMA|pg_notify`)

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
		quiet, subscribed, answered := ana.sandbox(t), ana.sandbox(t), ana.sandbox(t)
		for _, ref := range []int{subscribed, answered} {
			ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q,"events":["message"]}`, ref, srv.URL)).json(201)
		}
		ana.bot(t, answered, echoFlow("always", onAnything))
		s := &statements{db: asked}
		cases := []struct {
			name string
			do   func()
		}{
			{"inbound", func() { ana.write(t, quiet, "bob", "Hello"); s.rest(t, f) }},
			{"inbound, a webhook", func() { ana.write(t, subscribed, "bob", "Hello"); s.rest(t, f) }},
			{"inbound, a webhook, a bot answers", func() { ana.write(t, answered, "bob", "Hello"); s.rest(t, f) }},
			{"sent", func() { ana.send(t, quiet, "Hello"); s.rest(t, f) }},
		}
		for _, c := range cases {
			for range 6 { // statements are prepared, caches filled
				c.do()
			}
		}
		require.LessOrEqual(t, s.learn(), idleStatements, "an idle server asks more than once a second for what is due, and for more than a heartbeat in two seconds: %v", s.idle)
		for _, c := range cases {
			s.check(t, db.DriverName()+", "+c.name, c.do)
		}
	})
}

// rest waits until no queue has work, in the order in which work goes on, and then
// until nothing more is asked: the sandbox reports what became of a message.
func (s *statements) rest(t *testing.T, f fixture) {
	t.Helper()
	for _, stats := range []func() int64{
		func() int64 { n, _, err := f.Runs.QueueStats(t.Context()); require.NoError(t, err); return n },
		func() int64 { n, _, err := f.Messaging.QueueStats(t.Context()); require.NoError(t, err); return n },
		func() int64 { n, _, err := f.Webhooks.QueueStats(t.Context()); require.NoError(t, err); return n },
	} {
		f.until(t, func() bool { return stats() == 0 })
	}
	for last := -1; ; {
		asked, _ := s.since(nil)
		if asked == last {
			return
		}
		last = asked
		<-time.After(200 * time.Millisecond)
	}
}

const (
	idleSeconds = 4
	// idleStatements are asked in that time, with those on their way when counting
	// begins and ends.
	idleStatements = idleSeconds + idleSeconds/2 + 2 + noteStatements
	// noteStatements note what the clock of the database shows, once in five seconds
	// after something was written.
	noteStatements = 2
)

// learn learns what is asked while nothing happens, and returns how many statements
// that were.
func (s *statements) learn() (all int) {
	before := s.db.Texts()
	<-time.After(idleSeconds * time.Second)
	s.idle = map[string]bool{}
	for text, n := range s.db.Texts() {
		if n > before[text] {
			s.idle[text] = true
			all += n - before[text]
		}
	}
	return all
}

const statementRounds = 9

// check counts what do asks in some rounds. The file has the median of them. The round
// with the fewest is compared: work that does not end together shares no statements.
func (s *statements) check(t *testing.T, name string, do func()) {
	t.Helper()
	var all, transactions []int
	var last map[string]int
	for range statementRounds {
		before, started := s.db.Texts(), s.db.Transactions.Load()
		do()
		var n int
		n, last = s.since(before)
		all, transactions = append(all, n), append(transactions, int(s.db.Transactions.Load()-started))
	}
	slices.Sort(all)
	slices.Sort(transactions)
	line := fmt.Sprintf("%s: %d statements, %d transactions", name, all[statementRounds/2], transactions[statementRounds/2])
	t.Log(line, last)
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
		var limit, limitCommits int
		_, err := fmt.Sscanf(rest, "%d statements, %d transactions", &limit, &limitCommits)
		require.NoError(t, err)
		require.LessOrEqual(t, all[0], limit, "%s: more statements than %s says: %v", name, statementsFile, last)
		require.LessOrEqual(t, transactions[0], limitCommits, "%s: more transactions than %s says", name, statementsFile)
		return
	}
	require.Fail(t, name+" is not in "+statementsFile)
}

// since counts the statements since a moment, all and by package. What is asked without
// a message, and by the test, is left out.
func (s *statements) since(before map[string]int) (all int, byPackage map[string]int) {
	byPackage = map[string]int{}
	for text, n := range s.db.Texts() {
		if n -= before[text]; n == 0 || s.idle[text] || uncounted.MatchString(text) {
			continue
		}
		of := "other"
		if m := owner.FindStringSubmatch(text); m != nil {
			of = m[1]
		}
		byPackage[of] += n
		all += n
	}
	return all, byPackage
}

// TestIdle counts what a server asks its database while nothing happens, in two minutes
// of a virtual clock: one that shares the database asks what a node on PostgreSQL
// asks, because it also says that it is alive.
func TestIdle(t *testing.T) {
	t.Parallel()
	for name, exclusive := range map[string]bool{"alone": true, "with others": false} {
		synctest.Test(t, func(t *testing.T) {
			seen, asked := testkit.Counting(t, testkit.Open(t, testkit.SQLiteURL(t)))
			f := working(t, setupOn(t, seen, func(c *server.Config) { c.Exclusive = exclusive }))
			ana := f.as(t, "ana")
			for range 100 {
				ana.sandbox(t)
			}
			<-time.After(5*time.Minute + 3*time.Second) // what follows a start, and not when a timer of a minute fires
			before, all, texts := asked.Texts(), 0, map[string]int{}
			<-time.After(2 * time.Minute)
			for text, n := range asked.Texts() {
				if n -= before[text]; n > 0 {
					texts[strings.Join(strings.Fields(text), " ")[:min(60, len(text))]] = n
					all += n
				}
			}
			limit := 120 // one a second
			if exclusive {
				limit = 24
			}
			require.LessOrEqual(t, all, limit, "%s: %v", name, texts)
			t.Log(name, all, texts)
		})
	}
}
