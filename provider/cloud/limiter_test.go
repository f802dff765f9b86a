package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
)

// network takes every message and notes when.
type network struct {
	mu     sync.Mutex
	at     []time.Time
	answer string
	delays []time.Duration // of the messages on their way, in turn; nil: none
	left   int
}

// travel lets a message be on its way.
func (n *network) travel(req *http.Request) {
	if n.delays == nil {
		return
	}
	n.mu.Lock()
	delay := n.delays[n.left%len(n.delays)]
	n.left++
	n.mu.Unlock()
	httptrace.ContextClientTrace(req.Context()).WroteRequest(httptrace.WroteRequestInfo{})
	<-time.After(delay) // of the test's own clock
}

func (n *network) RoundTrip(req *http.Request) (*http.Response, error) {
	n.travel(req)
	n.mu.Lock()
	defer n.mu.Unlock()
	answer := n.answer
	if strings.HasSuffix(req.URL.Path, "/messages") {
		n.at = append(n.at, time.Now())
		answer = `{"messages":[{"id":"wamid.1"}]}`
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: req}, nil
}

// peak is the most messages in any window that is d long, both ends included.
func (n *network) peak(d time.Duration) int {
	slices.SortFunc(n.at, time.Time.Compare)
	peak, from := 0, 0
	for i, at := range n.at {
		for at.Sub(n.at[from]) > d {
			from++
		}
		peak = max(peak, i-from+1)
	}
	return peak
}

// paced opens a reference whose network has the clock of the test.
func paced(t *testing.T) (*network, provider.Session) {
	t.Helper()
	n := &network{answer: `{"id":"` + referenceID + `","success":true,"throughput":{"level":"STANDARD"}}`}
	p := cloud.New(&cloud.Options{HTTPClient: &http.Client{Transport: n}})
	session, err := p.Open(t.Context(), provider.Reference{Settings: settings()}, nil)
	require.NoError(t, err)
	return n, session
}

func contactNumber(i int) provider.Address {
	number := fmt.Sprintf("1650555%04d", i)
	return provider.Address{ChatID: number, Phone: number}
}

// sendPatiently sends one message and comes back when it is told to.
func sendPatiently(ctx context.Context, s provider.Session, to provider.Address) error {
	for {
		_, err := s.Send(ctx, provider.Outbound{To: to, Content: hello})
		var limited *provider.RateLimited
		if !errors.As(err, &limited) {
			return err
		}
		select {
		case <-time.After(limited.After):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TestNumberRate: 16 workers send to 400 contacts as fast as they can.
func TestNumberRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, session := paced(t)
		start := time.Now()
		var wg sync.WaitGroup
		for worker := range 16 {
			wg.Go(func() {
				for i := range 25 {
					if err := sendPatiently(t.Context(), session, contactNumber(worker*25+i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		require.Len(t, n.at, 400)
		require.Equal(t, 80, n.peak(time.Second), "no second holds more, and none is wasted")
		require.Less(t, time.Since(start), 4300*time.Millisecond, "400 messages take four seconds and a bit after the first 80")
	})
}

// TestRateOfArrivals: messages are under way for unequal times, so that late
// ones of one second meet early ones of the next.
func TestRateOfArrivals(t *testing.T) {
	t.Parallel()
	for name, delays := range map[string][]time.Duration{
		"now and then": {0, 0, 0, 0, 240 * time.Millisecond},
		"mixed":        {240 * time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond},
		"always":       {240 * time.Millisecond},
		"at first":     append(slices.Repeat([]time.Duration{240 * time.Millisecond}, 16), make([]time.Duration, 384)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n, session := paced(t)
				n.delays = delays
				start := time.Now()
				var wg sync.WaitGroup
				for i := range 400 {
					wg.Go(func() {
						if err := sendPatiently(t.Context(), session, contactNumber(i)); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				require.Len(t, n.at, 400)
				require.LessOrEqual(t, n.peak(time.Second), 80)
				require.Less(t, time.Since(start), 5500*time.Millisecond, "it takes the time that messages travel, and no more")
			})
		})
	}
}

// TestPairRate: 60 messages to one contact, while another gets his.
func TestPairRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, session := paced(t)
		for range 45 {
			_, err := session.Send(t.Context(), provider.Outbound{To: ana, Content: hello})
			require.NoError(t, err)
		}
		require.Equal(t, 45, n.peak(6*time.Second-time.Nanosecond))

		_, err := session.Send(t.Context(), provider.Outbound{To: ana, Content: hello})
		var limited *provider.RateLimited
		require.ErrorAs(t, err, &limited)
		require.Equal(t, 6*time.Second, limited.After)
		require.Len(t, n.at, 45, "nothing was sent")

		before := time.Now()
		_, err = session.Send(t.Context(), provider.Outbound{To: contactNumber(1), Content: hello})
		require.NoError(t, err)
		require.Equal(t, before, time.Now(), "another contact does not wait")

		last := len(n.at)
		for range 10 {
			require.NoError(t, sendPatiently(t.Context(), session, ana))
		}
		for i := last + 1; i < len(n.at); i++ {
			require.Equal(t, 6*time.Second, n.at[i].Sub(n.at[i-1]), "one every six seconds")
		}

		<-time.After(45 * 6 * time.Second) // of the test's own clock: the burst is paid for
		for range 45 {
			_, err := session.Send(t.Context(), provider.Outbound{To: ana, Content: hello})
			require.NoError(t, err)
		}
	})
}

// TestRateOfAnotherProcess counts what another process has sent, whatever its clock shows.
func TestRateOfAnotherProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, session := paced(t)
		limits := session.(provider.RateLimiter)
		var sent []provider.SentRecord
		for ago := 44; ago >= 0; ago-- { // one a second
			sent = append(sent, provider.SentRecord{To: ana, Ago: time.Duration(ago) * time.Second})
		}
		limits.Left(sent)
		require.LessOrEqual(t, limits.Next(contactNumber(1), 0), time.Duration(0))
		left := limits.Next(ana, 0)
		require.LessOrEqual(t, left, time.Duration(0), "some of the burst is paid for")
		for range 7 {
			_, err := session.Send(t.Context(), provider.Outbound{To: ana, Content: hello})
			require.NoError(t, err)
		}
		require.Equal(t, 4*time.Second, limits.Next(ana, 0), "52 messages from 44 seconds ago, of which 45 may come at once")
	})
}

// TestShortWaits: what is soon over is waited for, unless the caller goes.
func TestShortWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, session := paced(t)
		for range 45 {
			_, err := session.Send(t.Context(), provider.Outbound{To: ana, Content: hello})
			require.NoError(t, err)
		}
		<-time.After(5500 * time.Millisecond) // of the test's own clock
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := session.Send(ctx, provider.Outbound{To: ana, Content: hello})
		var temporary *provider.Temporary
		require.ErrorAs(t, err, &temporary)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, n.at, 45)

		<-time.After(6 * time.Second) // of the test's own clock
		before := time.Now()
		_, err = session.Send(t.Context(), provider.Outbound{To: ana, Content: hello})
		require.NoError(t, err)
		require.Equal(t, 400*time.Millisecond, time.Since(before), "the turn that was given up is lost")
	})
}

// TestRateIsLearned: a check tells what the number may.
func TestRateIsLearned(t *testing.T) {
	t.Parallel()
	for stated, want := range map[string]int{
		`"throughput":{"level":"HIGH"}`:                             1000,
		`"throughput":{"level":"STANDARD"}`:                         80,
		`"throughput":{"level":"NOT_APPLICABLE"}`:                   80,
		`"throughput":{"level":"STANDARD"},"is_on_biz_app":true`:    20,
		`"throughput":{"level":"HIGH"},"data":{"expires_at":"odd"}`: 1000,
	} {
		t.Run(stated, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n, session := paced(t)
				n.answer = `{"id":"` + referenceID + `","success":true,` + stated + `}`
				for i := range 10 { // before it is known
					require.NoError(t, sendPatiently(t.Context(), session, contactNumber(i)))
				}
				_, err := session.(provider.Checker).Check(t.Context())
				require.NoError(t, err)
				var wg sync.WaitGroup
				for i := range want + 100 {
					wg.Go(func() { _ = sendPatiently(t.Context(), session, contactNumber(i)) })
				}
				wg.Wait()
				require.Equal(t, want, n.peak(time.Second), "those before count")
			})
		})
	}
}
