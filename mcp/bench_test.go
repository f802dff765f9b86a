package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
)

type benchIn struct {
	Reference int64  `json:"reference"`
	ChatID    string `json:"chatId"`
	Active    bool   `json:"active"`
}

type benchOut struct {
	ChatID        string `json:"chatId"`
	Reference     int64  `json:"reference"`
	BotActive     int    `json:"botActive"`
	PreviousState int    `json:"previousState"`
}

const benchArguments = `{"reference":7,"chatId":"5511999990000@s.whatsapp.net","active":true}`

// side is one way to make a call.
type side struct {
	name  string
	call  func(ctx context.Context, user int) bool
	cpu   time.Duration // CPU
	wall  time.Duration
	asked int64
}

// BenchmarkCall is a call without a database, and the floor of
// [BenchmarkExecute].
func BenchmarkCall(b *testing.B) {
	r := free(b, mcp.Options{})
	benchFunction(b, r, nil, "chats.send", false)
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			benchFloor(b.Context(), 0)
		}
	})
	b.Run("registry", func(b *testing.B) {
		b.ReportAllocs()
		req := mcp.Request{Function: "toggle_bot", Arguments: json.RawMessage(benchArguments)}
		for b.Loop() {
			if !r.Execute(b.Context(), ana, req).Success {
				b.Fatal("failed")
			}
		}
	})
}

// BenchmarkExecute measures the cost of each step of the chain, relative to a floor
// that decodes the same arguments and encodes the same result. The sides take turns
// of a few calls, with one caller and with 16 callers.
func BenchmarkExecute(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { benchExecute(b, testkit.Open(b, "sqlite://"+b.TempDir()+"/bench.db")) })
	b.Run("postgres", func(b *testing.B) {
		benchExecute(b, testkit.Open(b, testkit.PostgresServer(b, testkit.PostgresOptions{Durable: true}).Database(b)))
	})
}

func benchExecute(b *testing.B, db *sqlx.DB) {
	seen, n := testkit.Counting(b, db)
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			sides := benchSides(b, seen)
			for i := range sides {
				sides[i].turn(b, callers, n) // what is made once, is made
				sides[i].cpu, sides[i].wall, sides[i].asked = 0, 0, 0
			}
			calls := 0
			for b.Loop() {
				for i := range sides {
					calls = sides[i].turn(b, callers, n)
				}
			}
			for _, s := range sides {
				per := float64(b.N * calls)
				b.ReportMetric(float64(s.cpu.Nanoseconds())/1e3/per, s.name+"-cpu-µs/call")
				b.ReportMetric(float64(s.wall.Nanoseconds())/1e3/per*float64(callers), s.name+"-µs/call")
				b.ReportMetric(float64(s.asked)/per, s.name+"-statements/call")
			}
		})
	}
}

// turn makes some calls and adds up what they took.
func (s *side) turn(b *testing.B, callers int, n *testkit.Asked) (calls int) {
	const each = 20
	cpu, began, asked := testkit.CPUTime(b), time.Now(), n.Statements.Load()
	var wg sync.WaitGroup
	for user := range callers {
		wg.Go(func() {
			for range each {
				if !s.call(b.Context(), user) {
					b.Error(s.name, "failed")
				}
			}
		})
	}
	wg.Wait()
	s.wall += time.Since(began)
	s.cpu += testkit.CPUTime(b) - cpu
	s.asked += n.Statements.Load() - asked
	return callers * each
}

func benchSides(b *testing.B, db *sqlx.DB) []side {
	off := mcp.Options{Limit: -1, AccountLimit: -1, NoAudit: true}
	limited, audited, all := off, off, mcp.Options{Limit: 1_000_000, AccountLimit: 1_000_000}
	limited.Limit, limited.AccountLimit = all.Limit, all.AccountLimit
	audited.NoAudit = false
	quiet := func(o mcp.Options, permission string, reads bool) func(context.Context, int) bool {
		r := setup(b, db, o)
		benchFunction(b, r, db, permission, reads)
		return func(ctx context.Context, user int) bool {
			c := ana
			c.User = fmt.Sprint("user", user)
			out := r.Execute(ctx, c, mcp.Request{Function: "toggle_bot", Arguments: json.RawMessage(benchArguments)})
			return out.Success
		}
	}
	return []side{
		{name: "floor", call: benchFloor},
		{name: "bare", call: quiet(off, "", false)},
		{name: "permission", call: quiet(off, "chats.send", false)},
		{name: "data", call: quiet(off, "", true)},
		{name: "limit", call: quiet(limited, "", false)},
		{name: "audit", call: quiet(audited, "", false)},
		{name: "all", call: quiet(all, "chats.send", true)},
	}
}

// benchFunction registers a function that reads a row, or does nothing.
func benchFunction(b *testing.B, r *mcp.Registry, db *sqlx.DB, permission string, reads bool) {
	err := mcp.Register(r, mcp.Function[benchIn, benchOut]{
		Name: "toggle_bot", Description: "For benchmarks.", Permission: permission,
		Handler: func(ctx context.Context, _ mcp.Call, in benchIn) (benchOut, error) {
			out := benchOut{ChatID: in.ChatID, Reference: in.Reference}
			if !reads {
				return out, nil
			}
			return out, db.GetContext(ctx, &out.PreviousState, `SELECT count(*) FROM mcp_limit WHERE account = $1`, "nobody")
		},
	})
	if err != nil {
		b.Fatal(err)
	}
}

// benchFloor does what no function can do without.
func benchFloor(context.Context, int) bool {
	var in benchIn
	dec := json.NewDecoder(bytes.NewReader([]byte(benchArguments)))
	dec.DisallowUnknownFields()
	if dec.Decode(&in) != nil {
		return false
	}
	out, err := json.Marshal(benchOut{ChatID: in.ChatID, Reference: in.Reference})
	return err == nil && len(out) > 0
}
