package mcp_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
)

// callMany makes n calls at once at each registry and counts those that pass.
func callMany(t *testing.T, n int, c mcp.Caller, function string, rs ...*mcp.Registry) int {
	t.Helper()
	var passed atomic.Int64
	var wg sync.WaitGroup
	for _, r := range rs {
		for range n {
			wg.Go(func() {
				out := r.Execute(t.Context(), c, mcp.Request{Function: function})
				if out.Success {
					passed.Add(1)
				} else if out.Error.Code != mcp.CodeRateLimited {
					t.Errorf("%s: %s", out.Error.Code, out.Error.Message)
				}
			})
		}
	}
	wg.Wait()
	return int(passed.Load())
}

// TestLimitOverNodes has two nodes on one database, each with its own connections,
// and a clock that does not move.
func TestLimitOverNodes(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		now := newClock()
		var nodes []*mcp.Registry
		for range 2 {
			r := setup(t, testkit.Open(t, url), mcp.Options{AccountLimit: -1, Now: now.now})
			ping(t, r, "ping")
			ping(t, r, "pong")
			nodes = append(nodes, r)
		}
		require.Equal(t, 60, callMany(t, 100, ana, "ping", nodes...))
		require.Zero(t, callMany(t, 5, ana, "ping", nodes...))
		now.move(time.Second - time.Microsecond)
		require.Zero(t, callMany(t, 5, ana, "ping", nodes...))
		now.move(time.Microsecond)
		require.Equal(t, 1, callMany(t, 5, ana, "ping", nodes...), "one interval later there is one more")
		now.move(3 * time.Second)
		require.Equal(t, 3, callMany(t, 5, ana, "ping", nodes...))
		require.Equal(t, 60, callMany(t, 40, ana, "pong", nodes...), "another function has its own")
		bob := ana
		bob.User = "bob"
		require.Equal(t, 60, callMany(t, 40, bob, "ping", nodes...), "another user has his own")
		now.move(time.Hour)
		require.Equal(t, 60, callMany(t, 40, ana, "ping", nodes...), "no more than the limit is saved up")
	})
}

// TestLimitsTogetherOverNodes has calls to two functions compete for the account's
// limit: each function's count must equal the calls that passed.
func TestLimitsTogetherOverNodes(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		now := newClock()
		var nodes []*mcp.Registry
		db := testkit.Open(t, url)
		for _, own := range []*sqlx.DB{db, testkit.Open(t, url)} {
			r := setup(t, own, mcp.Options{Limit: 60, AccountLimit: 75, Now: now.now})
			ping(t, r, "ping")
			ping(t, r, "pong")
			nodes = append(nodes, r)
		}
		passed := map[string]int{}
		var both sync.WaitGroup
		var mu sync.Mutex
		for _, function := range []string{"ping", "pong"} {
			both.Go(func() {
				n := callMany(t, 50, ana, function, nodes...)
				mu.Lock()
				defer mu.Unlock()
				passed[function] = n
			})
		}
		both.Wait()
		require.Equal(t, 75, passed["ping"]+passed["pong"])
		for function, n := range passed {
			var full int64
			require.NoError(t, db.Get(&full, `SELECT full_us FROM mcp_limit WHERE function = $1`, function))
			require.Equal(t, int64(n)*time.Second.Microseconds(), full-now.now().UnixMicro(), function)
		}
	})
}

// TestLimitByTheDatabasesClock lets real time pass, of which a call a minute
// is allowed.
func TestLimitByTheDatabasesClock(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		a, b := setup(t, db, mcp.Options{Limit: 1}), setup(t, db, mcp.Options{Limit: 1})
		ping(t, a, "ping")
		ping(t, b, "ping")
		require.Equal(t, 1, callMany(t, 10, ana, "ping", a, b))
		e := refused(t, call(t, a, ana, "ping", ""), mcp.CodeRateLimited)
		require.LessOrEqual(t, e.RetryAfter, time.Minute)
		require.Positive(t, e.RetryAfter)
	})
}

// TestLimitsTogether checks that a call which one limit refuses does not count
// against the other.
func TestLimitsTogether(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		now := newClock()
		r := setup(t, db, mcp.Options{Limit: 4, AccountLimit: 6, Now: now.now})
		ping(t, r, "ping")
		ping(t, r, "pong")
		require.Equal(t, 4, callMany(t, 20, ana, "ping", r), "of the function")
		require.Equal(t, 2, callMany(t, 20, ana, "pong", r), "the refused ones took nothing from the account, which has 2 left")
		other := ana
		other.Account = "other"
		require.Equal(t, 4, callMany(t, 10, other, "ping", r), "accounts are apart")

		now.move(10 * time.Second) // the account has one more
		bob := ana
		bob.User = "bob"
		require.Equal(t, 1, callMany(t, 5, bob, "pong", r))
		require.Zero(t, callMany(t, 5, bob, "ping", r))
		now.move(5 * time.Second) // pong has one more, the account has none
		e := refused(t, call(t, r, ana, "pong", ""), mcp.CodeRateLimited)
		require.Equal(t, 5*time.Second, e.RetryAfter)
		require.Contains(t, e.Message, "the account may make 6 calls per minute; try again in 5 s")
		now.move(5 * time.Second)
		require.Equal(t, 1, callMany(t, 5, ana, "pong", r), "what the account refused was not taken from the function")
	})
}

func TestRetryAfter(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		now := newClock()
		r := setup(t, db, mcp.Options{Limit: 7, Now: now.now}) // an interval of 8.571428 s
		ping(t, r, "ping")
		require.Equal(t, 7, callMany(t, 10, ana, "ping", r))
		out := call(t, r, ana, "ping", "")
		e := refused(t, out, mcp.CodeRateLimited)
		require.Equal(t, http.StatusTooManyRequests, out.Status())
		require.Equal(t, 8571428*time.Microsecond, e.RetryAfter)
		require.Equal(t, "this function allows each user 7 calls per minute; try again in 9 s", e.Message)
		now.move(e.RetryAfter - time.Microsecond)
		refused(t, call(t, r, ana, "ping", ""), mcp.CodeRateLimited)
		now.move(time.Microsecond)
		require.True(t, call(t, r, ana, "ping", "").Success)
	})
}

// TestLimitOfFunction has functions that say their own.
func TestLimitOfFunction(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		now := newClock()
		r := setup(t, db, mcp.Options{Limit: 2, Now: now.now})
		for name, limit := range map[string]int{"usual": 0, "few": 1, "more": 5, "free": -1} {
			require.NoError(t, mcp.Register(r, mcp.Function[none, none]{
				Name: name, Description: "For tests.", Limit: limit,
				Handler: ponging,
			}))
		}
		require.Equal(t, 2, callMany(t, 10, ana, "usual", r))
		require.Equal(t, 1, callMany(t, 10, ana, "few", r))
		require.Equal(t, 5, callMany(t, 10, ana, "more", r))
		require.Equal(t, 10, callMany(t, 10, ana, "free", r))
	})
}

// TestUnknownFunctionsAreLimited checks that calls of unknown functions count for
// the account.
func TestUnknownFunctionsAreLimited(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		r := setup(t, db, mcp.Options{AccountLimit: 3, Now: newClock().now})
		for i := range 3 {
			refused(t, call(t, r, ana, fmt.Sprint("nothing", i), ""), mcp.CodeUnknownFunction)
		}
		refused(t, call(t, r, ana, "nothing", ""), mcp.CodeRateLimited)
	})
}

// TestUncountedCallsAreRefused checks that a call is refused if the limits cannot
// be read.
func TestUncountedCallsAreRefused(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var log logged
		r := setup(t, db, mcp.Options{Logger: log.logger()})
		ping(t, r, "ping")
		db.MustExec(`DROP TABLE mcp_limit`)
		out := call(t, r, ana, "ping", "")
		refused(t, out, mcp.CodeUnavailable)
		require.Equal(t, http.StatusServiceUnavailable, out.Status())
		require.Contains(t, log.String(), "level=ERROR")
	})
}
