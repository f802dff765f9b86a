package auditlog_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/internal/auditlog"
)

// began is when the clock of a test begins.
var began = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// env is a log with a clock.
type env struct {
	*auditlog.Store
	db  *database.DB
	now time.Time
}

func setup(t *testing.T, db *sqlx.DB, retention time.Duration) *env {
	t.Helper()
	e := &env{now: began}
	var err error
	e.Store, err = auditlog.New(t.Context(), db, &auditlog.Options{Retention: retention, Now: func() time.Time { return e.now }})
	require.NoError(t, err)
	e.db, err = database.Of(t.Context(), db)
	require.NoError(t, err)
	return e
}

func eachDatabase(t *testing.T, fn func(t *testing.T, db *sqlx.DB)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, db)
	})
}

// as is the context of a user's request.
func (e *env) as(t *testing.T, account, user string) context.Context {
	t.Helper()
	ctx := audit.With(t.Context(), e.Store, audit.Origin{Address: "192.0.2.1", Request: "r1"})
	return audit.As(ctx, audit.Actor{Account: account, Kind: audit.Login, User: user, Email: user + "@example.org", Token: "t1"})
}

func (e *env) list(t *testing.T, account string, f auditlog.Filter) []string {
	t.Helper()
	p, err := e.List(t.Context(), account, f)
	require.NoError(t, err)
	require.NotNil(t, p.Items)
	out := []string{}
	for _, it := range p.Items {
		out = append(out, strings.TrimSpace(fmt.Sprint(it.User, " ", it.Action, " ", it.ObjectID)))
	}
	return out
}

func TestLog(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		e := setup(t, db, 0)
		ana, ben := e.as(t, "acme", "ana"), e.as(t, "acme", "ben")
		require.NoError(t, e.Record(ana, audit.Entry{
			Action: audit.ReferenceUpdate, ObjectID: "7", ObjectName: "Shop\x00\xff", Reference: 7, Details: audit.Changed("name"),
		}))
		e.now = began.Add(time.Minute)
		require.NoError(t, e.Record(ben, audit.Entry{Action: audit.UserLogin, ObjectID: "ben"}))
		require.NoError(t, e.Record(e.as(t, "other", "eve"), audit.Entry{Action: audit.UserLogin, ObjectID: "eve"}))

		p, err := e.List(t.Context(), "acme", auditlog.Filter{Limit: 1})
		require.NoError(t, err)
		require.NotEmpty(t, p.Next)
		p, err = e.List(t.Context(), "acme", auditlog.Filter{Limit: 1, Cursor: p.Next})
		require.NoError(t, err)
		require.Empty(t, p.Next)
		got := p.Items[0]
		require.Equal(t, began, got.At)
		require.JSONEq(t, `{"changed":["name"]}`, string(got.Details))
		require.Equal(t, audit.Record{
			Entry:  audit.Entry{Action: "reference.update", ObjectType: "reference", ObjectID: "7", ObjectName: "Shop\uFFFD", Reference: 7},
			Actor:  audit.Actor{Account: "acme", Kind: "login", User: "ana", Email: "ana@example.org", Token: "t1"},
			Origin: audit.Origin{Address: "192.0.2.1", Request: "r1"},
		}, got.Record)

		both := []string{"ben user.login ben", "ana reference.update 7"}
		for name, c := range map[string]struct {
			filter auditlog.Filter
			want   []string
		}{
			"all":       {auditlog.Filter{}, both},
			"user":      {auditlog.Filter{User: "ana"}, both[1:]},
			"kind":      {auditlog.Filter{Kind: "login"}, both},
			"no kind":   {auditlog.Filter{Kind: "cookie"}, both[:0]},
			"action":    {auditlog.Filter{Action: "user.login"}, both[:1]},
			"type":      {auditlog.Filter{ObjectType: "reference"}, both[1:]},
			"object":    {auditlog.Filter{ObjectID: "ben"}, both[:1]},
			"reference": {auditlog.Filter{Reference: 7}, both[1:]},
			"since":     {auditlog.Filter{Since: began.Add(time.Minute)}, both[:1]},
			"until":     {auditlog.Filter{Until: began.Add(time.Minute)}, both[1:]},
			"two":       {auditlog.Filter{User: "ana", Action: "user.login"}, both[:0]},
			"hostile":   {auditlog.Filter{ObjectID: "\x00\xff' OR 1=1 --"}, both[:0]},
		} {
			require.Equal(t, c.want, e.list(t, "acme", c.filter), name)
		}
		_, err = e.List(t.Context(), "acme", auditlog.Filter{Cursor: "?"})
		require.EqualError(t, err, "cursor is not a cursor of this list")

		require.NoError(t, e.DeleteAll(t.Context(), "acme"))
		require.Empty(t, e.list(t, "acme", auditlog.Filter{}))
		require.Equal(t, []string{"eve user.login eve"}, e.list(t, "other", auditlog.Filter{}), "accounts are apart")
	})
}

// An entry shares the fate of its transaction.
func TestTransaction(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		e := setup(t, db, 0)
		ctx := e.as(t, "acme", "ana")
		broken := errors.New("broken")
		err := e.db.Write(ctx, func(tx *database.Tx) error {
			require.NoError(t, audit.RecordTx(ctx, tx, audit.Entry{Action: audit.BotCreate}))
			return broken
		})
		require.ErrorIs(t, err, broken)
		require.Empty(t, e.list(t, "acme", auditlog.Filter{}))

		for name, c := range map[string]struct {
			ctx   context.Context
			entry audit.Entry
		}{
			"an action that is not listed": {ctx, audit.Entry{Action: "bot.paint"}},
			"no account":                   {audit.As(ctx, audit.Actor{}), audit.Entry{Action: audit.BotCreate}},
			"details that are no JSON":     {ctx, audit.Entry{Action: audit.BotCreate, Details: map[string]any{"x": func() {}}}},
		} {
			require.Error(t, e.Record(c.ctx, c.entry), name)
		}
		require.NoError(t, e.Record(t.Context(), audit.Entry{Action: audit.BotCreate}), "nothing is recorded")
		require.NoError(t, e.Record(audit.Without(ctx), audit.Entry{Action: audit.BotCreate}), "nothing is recorded")
		require.Empty(t, e.list(t, "acme", auditlog.Filter{}))

		require.NoError(t, e.Record(ctx, audit.Entry{
			Action: audit.BotCreate, ObjectName: strings.Repeat("é", 1000), Details: map[string]any{"x": strings.Repeat("x", 5000)},
		}))
		p, err := e.List(t.Context(), "acme", auditlog.Filter{})
		require.NoError(t, err)
		require.Len(t, p.Items[0].ObjectName, 500)
		require.JSONEq(t, `{"truncated":true}`, string(p.Items[0].Details))
	})
}

func TestRetention(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		for _, c := range []struct {
			keep, age time.Duration
			left      int
		}{
			{0, 364 * 24 * time.Hour, 1},
			{0, 366 * 24 * time.Hour, 0},
			{time.Hour, time.Hour + time.Second, 0},
			{-1, 99 * 365 * 24 * time.Hour, 1},
		} {
			e := setup(t, db, c.keep)
			require.NoError(t, e.Record(e.as(t, "acme", "ana"), audit.Entry{Action: audit.BotCreate}))
			e.now = began.Add(c.age)
			require.NoError(t, e.Prune(t.Context()))
			require.Len(t, e.list(t, "acme", auditlog.Filter{}), c.left, "%v %v", c.keep, c.age)
			require.NoError(t, e.DeleteAll(t.Context(), "acme"))
		}
		_, err := auditlog.New(t.Context(), db, &auditlog.Options{Retention: -2})
		require.Error(t, err)
	})
}

func TestErase(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		e := setup(t, db, 0)
		for _, account := range []string{"acme", "other"} {
			require.NoError(t, e.Record(e.as(t, account, "ana"), audit.Entry{Action: audit.ChatExport, ObjectID: "49151@c.us", ObjectName: "Eve"}))
		}
		require.NoError(t, e.Erase(t.Context(), "acme", []string{"49151@c.us", "49152@c.us"}))
		p, err := e.List(t.Context(), "acme", auditlog.Filter{})
		require.NoError(t, err)
		require.Equal(t, audit.Entry{Action: audit.ChatExport, ObjectType: "chat"}, p.Items[0].Entry)
		require.Equal(t, []string{"ana chat.export 49151@c.us"}, e.list(t, "other", auditlog.Filter{}))
	})
}

// TestErasureIsBounded erases somebody whom ten times as many entries name: the
// transactions become more, and none becomes larger.
func TestErasureIsBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		e := setup(t, db, 0)
		commits := testkit.ObserveCommits(t, db)
		for _, n := range []int64{600, 6000} {
			require.NoError(t, e.db.Write(t.Context(), func(tx *database.Tx) error {
				for range n {
					if err := audit.RecordTx(e.as(t, "acme", "ana"), tx, audit.Entry{Action: audit.ChatExport, ObjectID: "49151@c.us"}); err != nil {
						return err
					}
				}
				return nil
			}))
			commits.Take()
			require.NoError(t, e.Erase(t.Context(), "acme", []string{"49152@c.us", "49151@c.us"}))
			commits.RequireBounded(t, n, 500)
			require.Empty(t, testkit.Holding(t, db, "49151@c.us"))
			require.NoError(t, e.DeleteAll(t.Context(), "acme"))
			commits.RequireBounded(t, n, 500)
		}
	})
}

func TestCSV(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		e := setup(t, db, 0)
		ctx := e.as(t, "acme", "ana")
		const n = 1203 // more than two chunks
		require.NoError(t, e.db.Write(ctx, func(tx *database.Tx) error {
			for i := range n {
				if err := audit.RecordTx(ctx, tx, audit.Entry{Action: audit.BotCreate, ObjectID: fmt.Sprint(i)}); err != nil {
					return err
				}
			}
			return nil
		}))
		var ids []string
		f, sizes := auditlog.Filter{}, []int{}
		for {
			x, err := e.Export(t.Context(), "acme", f, 600)
			require.NoError(t, err)
			lines := written(t, x)
			require.Equal(t, "object id", lines[0][11])
			for _, cells := range lines[1:] {
				ids = append(ids, cells[11])
			}
			sizes = append(sizes, len(lines)-1)
			if f.Cursor = x.Next; x.Next == "" {
				break
			}
		}
		require.Equal(t, []int{600, 600, 3}, sizes)
		require.Len(t, ids, n)
		for i, id := range ids {
			require.Equal(t, fmt.Sprint(n-1-i), id)
		}
		x, err := e.Export(t.Context(), "acme", auditlog.Filter{}, n)
		require.NoError(t, err)
		require.Empty(t, x.Next)
		_, err = e.Export(t.Context(), "acme", auditlog.Filter{Cursor: "?"}, n)
		require.EqualError(t, err, "cursor is not a cursor of this list")
	})
}

// written is a document, as a spreadsheet reads it.
func written(t *testing.T, x *auditlog.Export) [][]string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, x.Write(t.Context(), &b))
	lines, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	return lines
}

func TestCSVHasNoFormulas(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		e := setup(t, db, 0)
		ctx := e.as(t, "acme", "ana")
		names := []string{
			`=HYPERLINK("http://evil.example")`, "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "＋1", "－1", "＠1", "a,\"b\"\n=1", "plain",
		}
		for _, name := range names {
			require.NoError(t, e.Record(ctx, audit.Entry{Action: audit.BotCreate, ObjectName: name, Reference: 5}))
		}
		x, err := e.Export(t.Context(), "acme", auditlog.Filter{}, 100)
		require.NoError(t, err)
		lines := written(t, x)[1:]
		require.Equal(t, []string{
			"2026-05-04T03:02:01Z", "bot.create", "login", "ana", "ana@example.org", "t1", "", "192.0.2.1", "r1", "bot", "", "plain", "5", "{}",
		}, lines[0][1:])
		for i, cells := range lines {
			name := names[len(names)-1-i]
			want := "'" + name
			if strings.HasSuffix(name, "plain") || strings.HasPrefix(name, "a") {
				want = name
			}
			require.Equal(t, strings.ReplaceAll(want, "\r", ""), strings.ReplaceAll(cells[12], "\r", ""), "%q", name)
		}
	})
}
