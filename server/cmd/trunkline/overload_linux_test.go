package main_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph"
)

const (
	// overloadClients is more than a server lets wait for its database.
	overloadClients = 3000
	// overloadAtLength is that of a run at length. It needs as many open files.
	overloadAtLength = 10_000
	// maxOverloadRSS is the promise for the memory of the server meanwhile, in KiB.
	maxOverloadRSS = 400 << 10
)

// TestOverloadWhileStopped stops the database while thousands of callbacks arrive at
// once. Each is answered while it is stopped: wait and try again. Networks do, and
// each is stored once.
func TestOverloadWhileStopped(t *testing.T) {
	t.Parallel()
	clientCount := overloadClients
	if testkit.Rounds(atLength) >= atLength {
		clientCount = overloadAtLength
	}
	database := testkit.PostgresServer(t, testkit.PostgresOptions{Durable: true})
	r := newEnv(t)
	n := launch(t, r.args("--database-url", database.Database(t), "--secret", sharedSecret)...)
	r.balancer.open(n)
	r.setup(t)
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: clientCount, MaxIdleConnsPerHost: clientCount}}
	defer client.CloseIdleConnections()
	thaw := database.Freeze(t)
	var refused atomic.Int64
	var others sync.Map // answers that are not expected
	var clients sync.WaitGroup
	for i := range clientCount {
		clients.Go(func() {
			status, after, err := r.callback(t, client, n, i)
			if err == nil && status == http.StatusServiceUnavailable && after != "" {
				refused.Add(1)
			} else {
				others.Store(fmt.Sprintf("status %d, Retry-After %q, error %v", status, after, err), i)
			}
		})
	}
	clients.Wait()
	kib := peak(t, n)
	thaw()
	t.Logf("promise: %s: %d clients at once were refused in time; the server had %d MiB at most", t.Name(), clientCount, kib>>10)
	require.LessOrEqual(t, kib, maxOverloadRSS)
	require.EqualValues(t, clientCount, refused.Load(), "others had %v", maps.Collect(others.Range))
	n.awaitProbe(t, http.StatusOK)
	next := make(chan int, clientCount)
	for i := range clientCount {
		next <- i
	}
	close(next)
	for range loadWriters {
		clients.Go(func() {
			for i := range next {
				for {
					status, _, err := r.callback(t, client, n, i)
					if err == nil && status == http.StatusOK {
						break
					}
				}
			}
		})
	}
	clients.Wait()
	var stored []string
	for i := range loadChats {
		for _, m := range r.history(t, contactOf(i)) {
			stored = append(stored, m.ID)
		}
	}
	var want []string
	for i := range clientCount {
		want = append(want, overloadID(i))
	}
	require.ElementsMatch(t, want, stored, "each once")
	n.terminate(t)
}

func overloadID(i int) string { return fmt.Sprintf("wamid.overload%d", i) }

// callback posts a message of a contact, once.
func (r *env) callback(t *testing.T, client *http.Client, n *node, i int) (status int, after string, err error) {
	body := fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":%q,"changes":[{"field":"messages","value":{`+
		`"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550783881","phone_number_id":%q},`+
		`"contacts":[{"profile":{"name":"Sheena"},"wa_id":%[3]q}],`+
		`"messages":[{"from":%[3]q,"id":%[4]q,"timestamp":"%[5]d","type":"text","text":{"body":"Hello?"}}]}}]}]}`,
		r.number.BusinessAccountID, r.number.PhoneNumberID, contactOf(i%loadChats), overloadID(i), time.Now().Unix())
	return r.post(t, client, n, body)
}

// post posts a signed callback, once.
func (r *env) post(t *testing.T, client *http.Client, n *node, body string) (status int, after string, err error) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+n.host+"/webhooks/provider", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Hub-Signature-256", graph.Sign(r.number.AppSecret, []byte(body)))
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Header.Get("Retry-After"), err
}
