package messaging_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// departures notes when each message is handed to the network, by the sender's
// own clock.
type departures struct {
	next http.RoundTripper
	mu   sync.Mutex
	to   []string
	at   []time.Time
}

func (d *departures) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	if strings.HasSuffix(req.URL.Path, "/messages") {
		d.mu.Lock()
		d.to, d.at = append(d.to, recipient(body)), append(d.at, time.Now())
		d.mu.Unlock()
	}
	return d.next.RoundTrip(req)
}

// recipient is whom a message goes to.
func recipient(body []byte) string {
	var m struct{ To string }
	_ = json.Unmarshal(body, &m)
	return m.To
}

// of are the departures to one contact.
func (d *departures) of(contact string) []time.Time {
	var out []time.Time
	for i, to := range d.to {
		if to == contact {
			out = append(out, d.at[i])
		}
	}
	return out
}

// inbound events are when the network took messages, in order.
func arrivals(shown []graphtest.Message) []time.Time {
	var at []time.Time
	for _, m := range shown {
		at = append(at, m.At)
	}
	slices.SortFunc(at, time.Time.Compare)
	return at
}

// bound is the most times in any window that is d long.
func bound(at []time.Time, d time.Duration) int {
	slices.SortFunc(at, time.Time.Compare)
	bound, from := 0, 0
	for i, t := range at {
		for t.Sub(at[from]) >= d {
			from++
		}
		bound = max(bound, i-from+1)
	}
	return bound
}

// TestRatesOfAReference queues more than the network takes at once: to 240 contacts
// one message, and to one of them more than his burst. No second holds more
// than 80 and no six seconds more than 45 to him, while the others flow; the
// network sees the same.
func TestRatesOfAReference(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const one, others, perSecond, burst = "16505550000", 240, 80, 45
		net := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{{PhoneNumberID: "1001", BusinessAccountID: "2001", AccessToken: ownerToken, AppSecret: ownerSecret}}})
		t.Cleanup(net.Close)
		left := &departures{next: graph.NewHTTPClient().Transport}
		f := setup(t, db, config{options: func(o *messaging.Options) {
			o.Providers = append(o.Providers, cloud.New(&cloud.Options{GraphURL: net.URL, HTTPClient: &http.Client{Transport: left}}))
			o.Exclusive = true // who stands still for long is not taken for dead, its requests not broken off
		}})
		ref := f.cloudReference(t, "owner", nil)
		var hello []provider.Event
		for i := range others + 1 {
			to := fmt.Sprintf("1650555%04d", i)
			hello = append(hello, text("wamid."+to, to, "Hello"))
		}
		f.receive(t, ref, hello...)
		queue := func(i int, to string) {
			_, err := f.svc.For("owner").Send(t.Context(), messaging.SendRequest{Reference: ref, ChatID: to, Content: provider.Text{Text: fmt.Sprint(i)}})
			require.NoError(t, err)
		}
		for i := range burst + 1 {
			queue(i, one)
		}
		for i := range others {
			queue(i, fmt.Sprintf("1650555%04d", i+1))
		}
		shown, err := net.WaitShown(t.Context(), "", burst+1+others)
		require.NoError(t, err)
		left.mu.Lock()
		defer left.mu.Unlock()
		require.Len(t, left.at, burst+1+others, "none failed, and none was tried twice")
		require.LessOrEqual(t, bound(left.of(one), 6*time.Second), burst)
		require.LessOrEqual(t, bound(slices.Clone(left.at), time.Second), perSecond)

		got, lag := arrivals(shown), time.Duration(0)
		for i, at := range got {
			lag = max(lag, at.Sub(left.at[i]))
		}
		arrived := bound(got, time.Second)
		t.Logf("at most %d in a second when they left, %d when they arrived, %s later", bound(slices.Clone(left.at), time.Second), arrived, lag)
		if lag < 200*time.Millisecond { // else the machine let requests lie
			require.LessOrEqual(t, arrived, perSecond*105/100)
			require.LessOrEqual(t, bound(arrivals(net.Shown(one)), 6*time.Second), burst*105/100)
		}
	})
}
