package delivery

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Policy says what follows a failure: see the Policy of package delivery. It has
// no defaults here.
type Policy struct {
	Retries               []time.Duration
	BlockFor              time.Duration
	DownAfter             int
	ProbeFirst, ProbeLast time.Duration
	GiveUp                time.Duration
}

// maxRetryAfter bounds what a receiver can ask for with Retry-After.
const maxRetryAfter = 24 * time.Hour

// retry is the wait after an event's failed attempt, of which there were
// failed before; false: there is no further one.
func (p Policy) retry(failed int) (time.Duration, bool) {
	if failed >= len(p.Retries) {
		return 0, false
	}
	spread := 0.8 + 0.4*rand.Float64() //nolint:gosec // it is not a secret
	return time.Duration(float64(p.Retries[failed]) * spread), true
}

// probe is the wait before the next probe of an endpoint of which pauses
// probes failed.
func (p Policy) probe(pauses int64) time.Duration {
	d := p.ProbeFirst
	for ; pauses > 0 && d < p.ProbeLast; pauses-- {
		d *= 2
	}
	return min(d, p.ProbeLast)
}

// retryAfter is what a 429 or 503 asks for, 0 if nothing.
func retryAfter(status int, h http.Header, now time.Time) time.Duration {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return 0
	}
	v := h.Get("Retry-After")
	var d time.Duration
	if n, err := strconv.ParseInt(v, 10, 32); err == nil {
		d = time.Duration(n) * time.Second
	} else if at, err := http.ParseTime(v); err == nil {
		d = at.Sub(now)
	}
	return min(max(d, 0), maxRetryAfter)
}

// isDown says whether an answer (status 0: none) is what an endpoint gives
// that is down, rather than one that refuses an event.
func isDown(status int) bool {
	return status == 0 || status == http.StatusTooManyRequests || status >= 500
}
