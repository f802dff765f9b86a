package main_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

const (
	surgeChats   = 2000
	surgeWriters = 8
	surgeBatch   = 25 // messages in a callback, each of another chat
	surgeStall   = answerWithin
	// maxSurgeRSS is the promise for the memory of the server, in KiB.
	maxSurgeRSS = 200 << 10
	// surgeStart is the promise for the start after it, of a run at length.
	surgeStart = time.Second
	// surgeAtLength is how many messages a run at length has.
	surgeAtLength = 1_000_000
)

// TestSurge lets messages arrive as fast as the server takes them, SURGE of them on
// each database. Each is stored once and delivered, in its order in each chat. The
// memory of the server does not grow with them, and it starts afterwards as ever.
func TestSurge(t *testing.T) {
	total := 2 * surgeChats
	if n, err := strconv.Atoi(os.Getenv("SURGE")); err == nil {
		total = n / surgeChats * surgeChats
	}
	for name, database := range map[string]func(t *testing.T) (driver, url, flag string){
		"sqlite": func(t *testing.T) (driver, url, flag string) {
			path := filepath.Join(t.TempDir(), "surge.db")
			return "sqlite", "file:" + path, "sqlite://" + path
		},
		"postgres": func(t *testing.T) (driver, url, flag string) {
			url = testkit.PostgresServer(t, testkit.PostgresOptions{Durable: true}).Database(t)
			return "postgres", url, url
		},
	} {
		t.Run(name, func(t *testing.T) {
			driver, url, flag := database(t)
			surge(t, total, driver, url, "--database-url", flag, "--secret", sharedSecret, "--data", t.TempDir())
		})
	}
}

func surge(t *testing.T, total int, driver, url string, args ...string) {
	r, got := newEnv(t), newSurgeReceiver(t, total)
	n := launch(t, r.args(args...)...)
	r.balancer.open(n)
	r.sink.url = got.url
	r.setup(t)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: surgeWriters}}
	defer client.CloseIdleConnections()
	began := time.Now()
	var writers errgroup.Group
	for w := range surgeWriters {
		writers.Go(func() error {
			for k := range total / surgeChats {
				for c := w; c < surgeChats; c += surgeWriters * surgeBatch {
					if err := r.surge(t, client, n, k, c); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	require.NoError(t, writers.Wait())
	written := time.Since(began)
	got.await(t)
	delivered := time.Since(began)
	kib := peak(t, n)
	n.terminate(t)

	again := launch(t, r.args(args...)...)
	again.terminate(t)
	db := sqlx.MustOpen(driver, url)
	defer db.Close() //nolint:errcheck // it was only read
	var stored int
	require.NoError(t, db.GetContext(t.Context(), &stored, `SELECT count(*) FROM messaging_message`))
	require.Equal(t, total, stored, "each once")
	t.Logf("promise: %s: %d messages arrived at %.0f a second and were delivered at %.0f, %d repeats; the server had %d MiB at most, and started again in %.2f s",
		t.Name(), total, float64(total)/written.Seconds(), float64(total)/delivered.Seconds(), got.repeats, kib>>10, again.elapsed.Seconds())
	require.LessOrEqual(t, kib, maxSurgeRSS)
	if total >= surgeAtLength {
		require.LessOrEqual(t, again.elapsed, surgeStart)
	}
}

// surge posts message k of some chats, from the first on, until it is answered with 200.
func (r *env) surge(t *testing.T, client *http.Client, n *node, k, first int) error {
	var messages, contacts []string
	for c := first; c < surgeChats && len(messages) < surgeBatch; c += surgeWriters {
		contact := fmt.Sprintf("1650%07d", c)
		contacts = append(contacts, fmt.Sprintf(`{"profile":{"name":"Sheena"},"wa_id":%q}`, contact))
		messages = append(messages, fmt.Sprintf(`{"from":%q,"id":"wamid.surge%d","timestamp":"%d","type":"text","text":{"body":"Does it come in another color?"}}`,
			contact, k*surgeChats+c, time.Now().Unix()))
	}
	body := fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":%q,"changes":[{"field":"messages","value":{`+
		`"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550783881","phone_number_id":%q},"contacts":[%s],"messages":[%s]}}]}]}`,
		r.number.BusinessAccountID, r.number.PhoneNumberID, strings.Join(contacts, ","), strings.Join(messages, ","))
	for {
		status, _, err := r.post(t, client, n, body)
		if err != nil || status == http.StatusOK {
			return err
		}
		if status != http.StatusServiceUnavailable {
			return fmt.Errorf("a callback was answered %d", status)
		}
		<-time.After(sendRetry)
	}
}

// surgeReceiver gets the webhooks of a surge.
type surgeReceiver struct {
	url string

	mu      sync.Mutex
	seen    []bool
	last    [surgeChats]int // number of the newest message of each chat
	left    int
	repeats int
	wrong   []string
	news    chan struct{} // has a value after each thousand
}

func newSurgeReceiver(t *testing.T, total int) *surgeReceiver {
	t.Helper()
	f := &surgeReceiver{seen: make([]bool, total), left: total, news: make(chan struct{}, 1)}
	for i := range f.last {
		f.last[i] = -1
	}
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	f.url = srv.URL
	return f
}

// ServeHTTP takes a webhook.
func (f *surgeReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	_, rest, found := bytes.Cut(body, []byte(`"wamid.surge`))
	digits, _, _ := bytes.Cut(rest, []byte(`"`))
	i, err := strconv.Atoi(string(digits))
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !found || err != nil || i >= len(f.seen):
		f.wrong = append(f.wrong, string(body))
	case f.seen[i]:
		f.repeats++
	case i < f.last[i%surgeChats]:
		f.wrong = append(f.wrong, fmt.Sprintf("message %d came after %d", i, f.last[i%surgeChats]))
	default:
		f.seen[i], f.last[i%surgeChats] = true, i
		if f.left--; f.left%1000 == 0 {
			select {
			case f.news <- struct{}{}:
			default:
			}
		}
	}
}

// await waits until all is delivered.
func (f *surgeReceiver) await(t *testing.T) {
	t.Helper()
	for {
		f.mu.Lock()
		left, wrong := f.left, f.wrong
		f.mu.Unlock()
		require.Empty(t, wrong)
		if left == 0 {
			return
		}
		select {
		case <-f.news:
		case <-time.After(surgeStall):
			require.Fail(t, "nothing is delivered any more", "%d messages are missing", left)
		}
	}
}
