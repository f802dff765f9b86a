package usage_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// priceServer serves a table of prices.
type priceServer struct {
	*httptest.Server
	mu       sync.Mutex
	body     string
	status   int
	full     int // number of complete responses
	notAgain int // number of responses without change
}

func servePrices(t *testing.T) *priceServer {
	t.Helper()
	s := &priceServer{status: http.StatusOK}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *priceServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	etag := fmt.Sprintf("%q", fmt.Sprint(len(s.body)))
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		s.notAgain++
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.full++
	w.WriteHeader(s.status)
	_, _ = w.Write([]byte(s.body))
}

func (s *priceServer) serve(body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.body = body
}

func (s *priceServer) counts() (full, notAgain int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full, s.notAgain
}

// priceList returns a table of some models at a price of input in USD.
func priceList(models int, price string) string {
	items := make([]string, models)
	for i := range items {
		items[i] = fmt.Sprintf(`{"provider":"house","model":"m%d","input":%s,"output":2}`, i, price)
	}
	return `{"items":[` + strings.Join(items, ",") + `]}`
}

// TestPricesOfURL fetches prices, refuses implausible ones, and keeps the good ones
// for a restart.
func TestPricesOfURL(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		s := servePrices(t)
		url := strings.Replace(s.URL, "http://", "http://user:hush-hush@", 1)
		node := func() fixture { return open(t, db, func(o *usage.Options) { o.Prices = url }) }
		f := node()
		cost := func(f fixture, model string) any {
			c := f.make(t, call(model), tokens(1000, 0))
			if !c.Known {
				return string(c.Status)
			}
			return fmt.Sprint(c.Nano, " by ", c.Source)
		}
		require.Equal(t, "unpriced_model", cost(f, "house/m1"))
		s.serve(priceList(10, "1"))
		require.NoError(t, f.Refresh(t.Context()))
		require.Equal(t, "1000000 by file", cost(f, "house/m1"))
		require.Equal(t, "1250000 by built-in", cost(f, "openai/gpt-5"), "what it does not have is in the built-in table")
		require.NoError(t, f.Refresh(t.Context()))
		full, notAgain := s.counts()
		require.Equal(t, []int{1, 1}, []int{full, notAgain})

		for why, body := range map[string]string{
			"tenfold":      priceList(10, "10.1"),
			"7 are":        priceList(7, "1"),
			"JSON list":    `{"items":[{"provider":"house"`,
			"decimals":     priceList(10, "-1"),
			"at least one": `{"items":[]}`,
		} {
			s.serve(body)
			require.ErrorContains(t, f.Refresh(t.Context()), why)
			require.Equal(t, "1000000 by file", cost(f, "house/m1"))
		}
		s.serve(strings.Repeat(" ", 17<<20))
		require.ErrorContains(t, f.Refresh(t.Context()), "16 MiB")
		s.mu.Lock()
		s.status = http.StatusBadGateway
		s.mu.Unlock()
		require.ErrorContains(t, f.Refresh(t.Context()), "502")
		s.Close()
		err := f.Refresh(t.Context())
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hush-hush")

		again := node()
		require.Equal(t, "1000000 by file", cost(again, "house/m1"), "the last good copy")
		require.NotContains(t, strings.Join(testkit.Contents(t, db), "\n"), "hush-hush")
		require.Equal(t, "file", again.Sources()[0].Name)
	})
}

// TestPricesInTheWrongUnit checks that implausible prices are refused the first
// time, too, by comparing them with the built-in table.
func TestPricesInTheWrongUnit(t *testing.T) {
	t.Parallel()
	s := servePrices(t)
	f := open(t, testkit.Open(t, testkit.SQLiteURL(t)), func(o *usage.Options) { o.Prices = s.URL })
	s.serve(`{"items":[{"provider":"openai","model":"gpt-5","input":0.00000125,"output":0.00001}]}`)
	require.ErrorContains(t, f.Refresh(t.Context()), "openai/gpt-5")
	require.Len(t, f.Sources(), 1)
}

// TestPricesOfFile reads a file unconditionally at the start, and again every day.
func TestPricesOfFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "prices.json")
	write := func(body string) { require.NoError(t, os.WriteFile(name, []byte(body), 0o600)) }
	dev := `{"openai":{"models":{"gpt-5":{"cost":{"input":%s,"output":5,"cache_read":0.1},"modalities":{"output":["text"]}},
		"gpt-image":{"cost":{"input":1,"output":1},"modalities":{"output":["image"]}},"free":{}}}}`
	write(fmt.Sprintf(dev, "90"))
	db := testkit.Open(t, testkit.SQLiteURL(t))
	f := open(t, db, func(o *usage.Options) { o.Prices = name })
	require.Equal(t, count(90_000), f.make(t, call("openai/gpt-5"), tokens(1, 0)).Nano)
	require.Equal(t, usage.CostUnpricedModel, f.make(t, call("openai/gpt-image"), tokens(1, 0)).Status)
	require.Equal(t, 1, f.Sources()[0].Models)

	stop := f.run(t)
	defer stop()
	write(fmt.Sprintf(dev, "80"))
	require.NoError(t, f.Refresh(t.Context()))
	require.Equal(t, count(80_000), f.make(t, call("openai/gpt-5"), tokens(1, 0)).Nano)

	write("{")
	_, err := usage.New(t.Context(), db, &usage.Options{Prices: name})
	var bad *usage.Invalid
	require.ErrorAs(t, err, &bad)
	_, err = usage.New(t.Context(), db, &usage.Options{Prices: name + "-missing"})
	require.Error(t, err)
}

// TestDailyPrices has Run fetch prices once a day, on one of the nodes.
func TestDailyPrices(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		s := servePrices(t)
		s.serve(priceList(3, "1"))
		after := func(age time.Duration, fetches bool) []int {
			f := open(t, db, func(o *usage.Options) { o.Prices = s.URL })
			f.clock.add(age)
			stop := f.run(t)
			testkit.UntilCommitted(t, db, func() bool {
				var kept []int64
				require.NoError(t, db.SelectContext(t.Context(), &kept, `SELECT checked_us FROM usage_table`))
				return f.Sources()[0].Name == "file" && len(kept) == 1 && (!fetches || kept[0] == f.clock.now().UnixMicro())
			})
			stop()
			full, notAgain := s.counts()
			return []int{full, notAgain}
		}
		require.Equal(t, []int{1, 0}, after(0, true))
		require.Equal(t, []int{1, 0}, after(23*time.Hour, false), "it is not a day old")
		require.Equal(t, []int{1, 1}, after(25*time.Hour, true))
	})
}
