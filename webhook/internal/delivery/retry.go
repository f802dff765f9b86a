package delivery

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/trunklinehq/trunkline/internal/retryafter"
)

// Policy says what follows a failure. A field that is zero has the value
// that its comment names.
type Policy struct {
	// Retries are the waits after the first, second … failed attempt of an
	// event, each varied by ±20 %; after the last retry the event is dead.
	// nil: 1 s, 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h.
	Retries []time.Duration
	// BlockFor is how long a refused event may hold back what is behind it in its
	// key. When the next retry would be later, the others pass. 10 min.
	BlockFor time.Duration
	// DownAfter is how many different events must fail in a row, as events do
	// at an endpoint that is down, before it is paused as a whole. 5.
	DownAfter int
	// ProbeFirst and ProbeLast are the waits before the first probe of a
	// paused endpoint and between later ones, doubling. 5 s, 5 min.
	ProbeFirst, ProbeLast time.Duration
	// GiveUp is how long an endpoint may be down before it is disabled.
	// 5 days.
	GiveUp time.Duration
}

// WithDefaults is p with the values of its comments where it is zero.
func (p Policy) WithDefaults() Policy {
	if p.Retries == nil {
		p.Retries = []time.Duration{
			time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
			2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
		}
	}
	p.BlockFor = cmp.Or(p.BlockFor, 10*time.Minute)
	p.DownAfter = cmp.Or(p.DownAfter, 5)
	p.ProbeFirst = cmp.Or(p.ProbeFirst, 5*time.Second)
	p.ProbeLast = cmp.Or(p.ProbeLast, 5*time.Minute)
	p.GiveUp = cmp.Or(p.GiveUp, 5*24*time.Hour)
	return p
}

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
	return retryafter.Of(h, now)
}

// isDown says whether an answer (status 0: none) is what an endpoint gives
// that is down, rather than one that refuses an event.
func isDown(status int) bool {
	return status == 0 || status == http.StatusTooManyRequests || status >= 500
}
