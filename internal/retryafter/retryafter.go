// Package retryafter reads how long a server asks its clients to wait.
package retryafter

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// Max is the longest wait that [Of] returns.
const Max = 24 * time.Hour

// Of returns the wait that the header Retry-After asks for, 0 if there is none or it is
// over. A date is compared with that of the answer: this machine's clock, now, may be
// wrong. See https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3.
func Of(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return Seconds(s)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), Max)
}

// Seconds returns a wait of so many seconds, from 0 to [Max].
func Seconds(s float64) time.Duration {
	if math.IsNaN(s) || s <= 0 {
		return 0
	}
	return time.Duration(min(s, Max.Seconds()) * float64(time.Second))
}
