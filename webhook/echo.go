package webhook

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// EchoURL is the address of the built-in receiver.
const EchoURL = delivery.EchoURL // "trunkline://echo"

// maxEcho is how many deliveries of a scope the mirror shows.
const maxEcho = 100

// Echo is a receiver inside this process, a mirror for newcomers: it verifies
// the signature as any receiver should, answers 200, and shows what came. It
// keeps its memory in this process only. The zero value is ready, and it is
// safe for concurrent use.
type Echo struct {
	mu   sync.Mutex
	last map[string][]Received
}

// Received is a delivery as the receiver saw it.
type Received struct {
	At      time.Time
	Headers []Header // in the order of their names; configured values are masked
	Body    string
}

// Last returns the last deliveries of a scope, at most 100, newest first.
func (e *Echo) Last(scope string) []Received {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := slices.Clone(e.last[scope])
	slices.Reverse(out)
	return out
}

// receive is one delivery. It answers as a server would.
func (e *Echo) receive(j *delivery.Job, h http.Header, now time.Time) (status int, response string) {
	scope, body := j.Target.Scope, []byte(j.Body)
	if err := Verify(j.Target.SigningSecret, h, body, now); err != nil {
		return http.StatusUnauthorized, "the signature does not verify"
	}
	r := Received{At: now, Body: string(body)}
	for name, values := range h {
		for _, v := range values {
			if isConfigured(j.Target.Opened, name) {
				v = Mask
			}
			r.Headers = append(r.Headers, Header{Key: name, Value: v})
		}
	}
	slices.SortFunc(r.Headers, func(a, b Header) int { return strings.Compare(a.Key, b.Key) })
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		e.last = map[string][]Received{}
	}
	stored := append(e.last[scope], r)
	e.last[scope] = stored[max(0, len(stored)-maxEcho):]
	return http.StatusOK, "received"
}

func isConfigured(headers []delivery.Header, name string) bool {
	return slices.ContainsFunc(headers, func(h delivery.Header) bool { return strings.EqualFold(h.Key, name) })
}
