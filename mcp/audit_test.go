package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
)

// entries lists calls of acme.
func entries(t testing.TB, r *mcp.Registry, f mcp.AuditFilter) []mcp.AuditEntry {
	t.Helper()
	page, err := r.For("acme").Audit(t.Context(), f)
	require.NoError(t, err)
	require.Empty(t, page.Next)
	return page.Items
}

// summary returns a call in one line.
func summary(e mcp.AuditEntry) string {
	return fmt.Sprintf("%s %s %s %s", e.User, e.Function, e.Arguments, e.Outcome)
}

func TestAudit(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		now := newClock()
		r := setup(t, db, mcp.Options{Limit: 2, Now: now.now})
		add(t, r, "greet", func(_ context.Context, _ mcp.Call, in greeting) (none, error) {
			switch in.Name {
			case "panic":
				panic("no")
			case "busy":
				return none{}, &mcp.Error{Code: "conflict", Message: "busy"}
			}
			return none{}, nil
		})
		bob := only("chats.read")
		bob.User, bob.Token = "bob", ""
		call(t, r, ana, "greet", `{"name":"Eve"}`)
		r.Execute(t.Context(), ana, mcp.Request{Function: "greet", Arguments: []byte(`{"name":"panic"}`), DryRun: true})
		call(t, r, ana, "greet", `{"name":"busy"}`)
		now.move(time.Minute)
		call(t, r, ana, "greet", `{"name":"busy"}`)
		call(t, r, ana, "greet", `{"name":"panic"}`)
		now.move(time.Minute)
		call(t, r, ana, "greet", `{"nome":5}`)
		call(t, r, ana, "no\x00thing", `{"name":"x"}`)
		call(t, r, bob, "greet", `[1]`)

		got := entries(t, r, mcp.AuditFilter{})
		var lines []string
		for _, e := range got {
			lines = append(lines, summary(e))
		}
		require.Equal(t, []string{
			"bob greet {} forbidden",
			`ana nothing {"name":"[unknown]"} unknown_function`,
			`ana greet {"nome":"[unknown]"} invalid_arguments`,
			`ana greet {"name":"panic"} internal`,
			`ana greet {"name":"busy"} conflict`,
			`ana greet {"name":"busy"} rate_limited`,
			`ana greet {"name":"panic"} ok`,
			`ana greet {"name":"Eve"} ok`,
		}, lines)
		require.True(t, got[6].DryRun)
		require.False(t, got[7].DryRun)
		require.Equal(t, "t1", got[7].Token)
		require.Equal(t, time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), got[7].At)
		require.GreaterOrEqual(t, got[7].Duration, time.Duration(0))

		began := newClock().now()
		for name, c := range map[string]struct {
			filter mcp.AuditFilter
			n      int
		}{
			"user":        {mcp.AuditFilter{User: "bob"}, 1},
			"nobody":      {mcp.AuditFilter{User: "eve"}, 0},
			"function":    {mcp.AuditFilter{Function: "greet"}, 7},
			"outcome":     {mcp.AuditFilter{Outcome: "ok"}, 2},
			"both":        {mcp.AuditFilter{User: "ana", Outcome: "rate_limited"}, 1},
			"from":        {mcp.AuditFilter{From: began.Add(time.Minute)}, 5},
			"to":          {mcp.AuditFilter{To: began.Add(time.Minute)}, 3},
			"between":     {mcp.AuditFilter{From: began.Add(time.Minute), To: began.Add(2 * time.Minute)}, 2},
			"the present": {mcp.AuditFilter{From: began.Add(time.Hour)}, 0},
		} {
			require.Len(t, entries(t, r, c.filter), c.n, name)
		}
		page, err := r.For("other").Audit(t.Context(), mcp.AuditFilter{})
		require.NoError(t, err)
		require.NotNil(t, page.Items)
		require.Empty(t, page.Items, "accounts are apart")
	})
}

func TestAuditPages(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		r := setup(t, db, mcp.Options{Limit: -1, AccountLimit: -1})
		ping(t, r, "ping")
		for i := range 25 {
			c := ana
			c.User = fmt.Sprint("user", i)
			call(t, r, c, "ping", "")
		}
		var users []string
		f := mcp.AuditFilter{Limit: 10}
		for pages := 1; ; pages++ {
			page, err := r.For("acme").Audit(t.Context(), f)
			require.NoError(t, err)
			for _, e := range page.Items {
				users = append(users, e.User)
			}
			if page.Next == "" {
				require.Equal(t, 3, pages)
				break
			}
			f.Cursor = page.Next
			call(t, r, ana, "ping", "") // what comes meanwhile is on no later page
		}
		require.Len(t, users, 25)
		require.Equal(t, "user24", users[0])
		require.Equal(t, "user0", users[24])
		for name, bad := range map[string]mcp.AuditFilter{
			"limit":    {Limit: -1},
			"cursor":   {Cursor: "AAAA"},
			"function": {Function: "a\x00"},
		} {
			_, err := r.For("acme").Audit(t.Context(), bad)
			var e *mcp.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, mcp.CodeInvalidArguments, e.Code)
			require.Len(t, e.Details, 1)
			require.Equal(t, name, e.Details[0].Argument)
		}
	})
}

// TestMask looks at what is written down of arguments.
func TestMask(t *testing.T) {
	t.Parallel()
	type args struct {
		ChatID string          `json:"chatId,omitempty"`
		ID     int64           `json:"id,omitempty"`
		Text   string          `json:"text,omitempty" private:"true"`
		Token  string          `json:"accessToken,omitempty"`
		Input  map[string]any  `json:"input,omitempty"`
		Raw    json.RawMessage `json:"raw,omitempty"`
	}
	db := testkit.Open(t, testkit.SQLiteURL(t))
	r := setup(t, db, mcp.Options{Limit: -1, AccountLimit: -1})
	add(t, r, "f", func(context.Context, mcp.Call, args) (none, error) { return none{}, nil })
	long := strings.Repeat("é", 300)
	for name, c := range map[string]struct{ arguments, want string }{
		"nothing":            {``, `{}`},
		"a phone":            {`{"chatId":"5511999990000@s.whatsapp.net"}`, `{"chatId":"•••0000@s.whatsapp.net"}`},
		"a written phone":    {`{"chatId":"call +55 (11) 99999-0000 now"}`, `{"chatId":"call •••0000 now"}`},
		"two phones":         {`{"chatId":"5511999990000, 5511999991111"}`, `{"chatId":"•••0000, •••1111"}`},
		"an id":              {`{"chatId":"3EB0123456789ABC"}`, `{"chatId":"3EB0123456789ABC"}`},
		"an id with a phone": {`{"chatId":"wamid.HBgNNTUxMTk5OTk5MDAwMBUCABEYEjNFQjA0RjQ5"}`, `{"chatId":"wamid.•••QjA0RjQ5"}`},
		"a UUID":             {`{"chatId":"0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"}`, `{"chatId":"0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"}`},
		"few digits":         {`{"chatId":"12-34-56"}`, `{"chatId":"12-34-56"}`},
		"an id of ours":      {`{"id":9007199254740993}`, `{"id":9007199254740993}`},
		"a phone as number":  {`{"input":{"phone":5511999990000,"n":12}}`, `{"input":{"phone":"•••0000","n":12}}`},
		"private":            {`{"text":"hunter2"}`, `{"text":"[private]"}`},
		"private, wrong":     {`{"text":{"a":"hunter2"}}`, `{"text":"[private]"}`},
		"unknown":            {`{"texts":"hunter2","password":"hunter2"}`, `{"texts":"[unknown]","password":"[masked]"}`},
		"a secret":           {`{"accessToken":"hunter2"}`, `{"accessToken":"[masked]"}`},
		"deep secrets":       {`{"input":{"a":[{"API-Key":"hunter2","client_secret":["hunter2"],"b":1}]},"raw":{"Authorization":"hunter2"}}`, `{"input":{"a":[{"API-Key":"[masked]","client_secret":"[masked]","b":1}]},"raw":{"Authorization":"[masked]"}}`},
		"a long text":        {`{"chatId":"` + long + `"}`, `{"chatId":"` + long[:400] + `…"}`},
		"a long number":      {`{"raw":1` + strings.Repeat("0", 300) + `}`, `{"raw":"[…]"}`},
		"half a pair":        {`{"chatId":"\ud800"}`, `{"chatId":"[private]"}`},
		"no JSON":            {`{"chatId":`, `{}`},
		"a quote in a name":  {`{"\"<\n":1}`, `{"\"\u003c\n":"[unknown]"}`},
		"all of other kinds": {`{"raw":[true,null,"x",1.5,{}]}`, `{"raw":[true,null,"x",1.5,{}]}`},
	} {
		call(t, r, ana, "f", c.arguments)
		got := entries(t, r, mcp.AuditFilter{})[0].Arguments
		require.Equal(t, c.want, string(got), name)
		require.True(t, json.Valid(got), name)
	}
	require.Empty(t, testkit.Holding(t, db, "hunter2"))
	require.Empty(t, testkit.Holding(t, db, "551199999"))

	many := `{"raw":[` + strings.Repeat(`"`+strings.Repeat("x", 100)+`",`, 2000) + `{"a":1}],"input":{"a":1}}`
	require.True(t, call(t, r, ana, "f", many).Success)
	page, err := r.For("acme").Audit(t.Context(), mcp.AuditFilter{Limit: 1})
	require.NoError(t, err)
	require.True(t, json.Valid(page.Items[0].Arguments))
	require.Less(t, len(page.Items[0].Arguments), 5000)
}

// TestAuditOfCallersThatHaveGone checks that calls of disconnected callers are
// recorded.
func TestAuditOfCallersThatHaveGone(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		r := setup(t, db, mcp.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		add(t, r, "waits", func(ctx context.Context, _ mcp.Call, _ none) (none, error) {
			cancel()
			<-ctx.Done()
			return none{}, nil
		})
		out := r.Execute(ctx, ana, mcp.Request{Function: "waits"})
		got := entries(t, r, mcp.AuditFilter{})
		require.Len(t, got, 1)
		if !out.Success {
			require.Equal(t, out.Error.Code, got[0].Outcome)
		}
	})
}

// TestUnwrittenCalls checks that a call which cannot be recorded keeps its outcome
// and is logged.
func TestUnwrittenCalls(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var log logged
		r := setup(t, db, mcp.Options{Logger: log.logger()})
		ping(t, r, "ping")
		db.MustExec(`DROP TABLE mcp_audit`)
		require.True(t, call(t, r, ana, "ping", "").Success)
		require.Contains(t, log.String(), "a function call is not in the audit log")
		require.Contains(t, log.String(), "user=ana")
	})
}

// run has the registry work in the background until the test ends.
func run(t *testing.T, r *mcp.Registry) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
}

func rows(t testing.TB, db *sqlx.DB, table string) (n int) {
	t.Helper()
	require.NoError(t, db.Get(&n, `SELECT count(*) FROM `+table))
	return n
}

func TestRetention(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		now := newClock()
		r := setup(t, db, mcp.Options{Retention: 24 * time.Hour, Limit: -1, AccountLimit: 10_000, Now: now.now})
		ping(t, r, "ping")
		calls := make([]mcp.Request, mcp.MaxBatch)
		for i := range calls {
			calls[i].Function = "ping"
		}
		for range 12 { // more than are deleted at a time
			_, failed := r.Batch(t.Context(), ana, calls)
			require.Nil(t, failed)
		}
		now.move(25 * time.Hour)
		other := ana
		other.Account = "other"
		call(t, r, other, "ping", "")
		require.Equal(t, 601, rows(t, db, "mcp_audit"))
		require.Equal(t, 2, rows(t, db, "mcp_limit"))
		run(t, r)
		testkit.UntilCommitted(t, db, func() bool { return rows(t, db, "mcp_audit") == 1 && rows(t, db, "mcp_limit") == 1 })
		require.Empty(t, entries(t, r, mcp.AuditFilter{}))
	})
}

func TestDeleteAll(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		r := setup(t, db, mcp.Options{Limit: 100, AccountLimit: -1})
		ping(t, r, "ping")
		other := ana
		other.Account = "other"
		for range 3 {
			call(t, r, ana, "ping", "")
			call(t, r, other, "ping", "")
		}
		require.NoError(t, r.For("acme").DeleteAll(t.Context()))
		require.NoError(t, r.For("acme").DeleteAll(t.Context()), "again")
		require.Empty(t, testkit.Holding(t, db, "acme"))
		require.Equal(t, 3, rows(t, db, "mcp_audit"))
		require.Equal(t, 1, rows(t, db, "mcp_limit"))
	})
}

// TestErase erases a contact from calls of others.
func TestErase(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		type chat struct {
			ChatID  string   `json:"chatId,omitempty"`
			Message string   `json:"message,omitempty"`
			Others  []string `json:"others,omitempty"`
		}
		r := setup(t, db, mcp.Options{Limit: -1, AccountLimit: -1})
		add(t, r, "f", func(context.Context, mcp.Call, chat) (none, error) { return none{}, nil })
		other := ana
		other.Account = "other"
		const cloudID = "wamid.HBgNNTUxMTk5OTk5MDAwMBUCABEYEjNFQjA0RjQ5"
		for _, arguments := range []string{
			`{"chatId":"maria@sandbox"}`, `{"chatId":"anamaria@sandbox"}`, `{"others":["x","a\"b<@sandbox"]}`, `{"message":"` + cloudID + `"}`, `{"chatId":"5511999990000"}`,
			`{"chatId":"ÁVILA@sandbox"}`,
		} {
			call(t, r, ana, "f", arguments)
			call(t, r, other, "f", arguments)
		}
		texts := []string{"Maria@sandbox", "ÁVILA@sandbox", `a"b<@sandbox`, cloudID, "5511888880000", "", "%"}
		for i := range 150 {
			texts = append(texts, fmt.Sprint("nobody", i))
		}
		require.NoError(t, r.For("acme").Erase(t.Context(), texts))
		var got []string
		for _, e := range entries(t, r, mcp.AuditFilter{}) {
			got = append(got, string(e.Arguments))
		}
		require.Equal(t, []string{`{}`, `{"chatId":"•••0000"}`, `{}`, `{}`, `{"chatId":"anamaria@sandbox"}`, `{}`}, got)
		page, err := r.For("other").Audit(t.Context(), mcp.AuditFilter{})
		require.NoError(t, err)
		require.Equal(t, `{"chatId":"maria@sandbox"}`, string(page.Items[5].Arguments))
	})
}

// TestErasurePages erases ten times as much: a page of calls is read at a time, and
// a transaction changes no more.
func TestErasurePages(t *testing.T) {
	t.Parallel()
	for _, n := range []int{110, 1100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
				seen, asked := testkit.Counting(t, db)
				r := setup(t, seen, mcp.Options{Limit: -1, AccountLimit: -1})
				_, err := db.Exec(`INSERT INTO mcp_audit (at_us, account, caller, token, function, arguments, dry_run, outcome, duration_us)
					SELECT 1, 'acme', 'ana', '', 'f', '{"chatId":"maria@sandbox"}', FALSE, 'ok', 1 FROM (` + numbers(n) + `) AS n`)
				require.NoError(t, err)
				commits := testkit.ObserveCommits(t, seen)
				require.NoError(t, r.For("acme").Erase(t.Context(), []string{"maria@sandbox"}))
				commits.RequireBounded(t, int64(n), 100)
				require.Equal(t, n/100+1, asked.Of("SELECT id FROM mcp_audit"))
				require.Empty(t, testkit.Holding(t, db, "maria"))
			})
		})
	}
}

// numbers selects n rows.
func numbers(n int) string {
	return fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n`, n)
}
