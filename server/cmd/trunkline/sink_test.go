package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// delivery is a webhook that the sink received.
type delivery struct {
	webhookID string
	event     string
	reference string
	sequence  int64
	body      string

	jid    string // of the body
	id     string
	mine   bool
	status string
	text   string
}

// sink is an integrator's receiver. It refuses what is not signed, and keeps
// the first receipt of each event in the order of arrival.
type sink struct {
	url string

	mu       sync.Mutex
	verifier *standardwebhooks.Webhook
	anyTime  bool // signatures may have any time
	first    []delivery
	seen     map[string]string // body by webhook-id
	repeats  int
	again    map[string]int // repeats by webhook-id
	wrong    []string
	lock     chan struct{} // not nil: answers wait until it is closed
	arrived  testsignal.Signal
}

func newSink(t testing.TB) *sink {
	t.Helper()
	s := &sink{seen: map[string]string{}, again: map[string]int{}}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.url = srv.URL + "/hook"
	return s
}

// trust sets the secret that deliveries are signed with.
func (s *sink) trust(t testing.TB, secret string) {
	t.Helper()
	wh, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verifier = wh
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // cut off with its sender
	}
	if lock := s.take(r.Header, string(body)); lock != nil {
		<-lock
	}
	w.WriteHeader(http.StatusNoContent)
}

// until waits until done returns true, which it asks now and after each delivery.
func (s *sink) until(t testing.TB, done func() bool, what ...any) {
	t.Helper()
	testkit.Until(t, []*testsignal.Signal{&s.arrived}, done, what...)
}

// untilMore waits until so many more events were delivered.
func (s *sink) untilMore(t testing.TB, n int) {
	t.Helper()
	before, _ := s.count()
	s.until(t, func() bool { now, _ := s.count(); return now >= before+n }, n, "more webhooks")
}

// take notes a delivery, or what is wrong with it.
func (s *sink) take(h http.Header, body string) (lock chan struct{}) {
	defer s.arrived.Send()
	s.mu.Lock()
	defer s.mu.Unlock()
	verify := s.verifier.Verify
	if s.anyTime {
		verify = s.verifier.VerifyIgnoringTimestamp
	}
	if err := verify([]byte(body), h); err != nil {
		s.wrong = append(s.wrong, "signature: "+err.Error())
	}
	if got := h.Get("X-From"); got != "Trunkline" {
		s.wrong = append(s.wrong, fmt.Sprintf("the configured header is %q", got))
	}
	d, err := parse(h, body)
	if err != nil {
		s.wrong = append(s.wrong, err.Error())
	}
	if before, again := s.seen[d.webhookID]; again {
		s.repeats++
		s.again[d.webhookID]++
		if before != d.key() {
			s.wrong = append(s.wrong, "a repeat differs: "+before+" and "+d.key())
		}
		return s.lock
	}
	s.seen[d.webhookID] = d.key()
	s.first = append(s.first, d)
	return s.lock
}

// key returns what a repeat has in common with the first try.
func (d *delivery) key() string {
	return fmt.Sprintf("%s %s %d %s", d.event, d.reference, d.sequence, d.body)
}

func parse(h http.Header, body string) (delivery, error) {
	d := delivery{
		webhookID: h.Get("webhook-id"), event: h.Get("X-Trunkline-Event"), reference: h.Get("X-Trunkline-Reference"), body: body,
	}
	var p struct {
		RemoteJID, ID, Status, Text string
		Mine                        bool
	}
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		return d, fmt.Errorf("body: %w", err)
	}
	d.jid, d.id, d.mine, d.status, d.text = p.RemoteJID, p.ID, p.Mine, p.Status, p.Text
	if ct := h.Get("Content-Type"); ct != "application/json" {
		return d, fmt.Errorf("content type %q", ct)
	}
	var err error
	d.sequence, err = strconv.ParseInt(h.Get("X-Trunkline-Sequence"), 10, 64)
	return d, err
}

// received returns the first receipts in their order.
func (s *sink) received() []delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]delivery{}, s.first...)
}

// about returns the first receipts about a contact.
func (s *sink) about(contact string) []delivery {
	return slices.DeleteFunc(s.received(), func(d delivery) bool { return d.contact() != contact })
}

// sound fails the test when anything was wrong with any delivery.
func (s *sink) sound(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Empty(t, s.wrong)
}

// count returns the number of first receipts, and of repeats.
func (s *sink) count() (events, repeats int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.first), s.repeats
}

// maxRepeats returns how often the delivery was repeated that was repeated most often.
func (s *sink) maxRepeats() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, times := range s.again {
		n = max(n, times)
	}
	return n
}

// pause lets deliveries arrive but not be answered until the returned function
// is called.
func (s *sink) pause() (release func()) {
	lock := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lock = lock
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lock = nil
		close(lock)
	}
}

// contact returns the phone number or user id of a remoteJid.
func (d *delivery) contact() string { return strings.TrimSuffix(d.jid, "::single") }
