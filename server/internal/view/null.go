package view

import (
	"time"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/webhook"
)

// OrNull returns a text, or null when it is empty.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// StatusOrNull returns the status of an attempt, or null when there was no
// answer.
func StatusOrNull(a webhook.Attempt) *int {
	if a.StatusCode == 0 {
		return nil
	}
	return &a.StatusCode
}

// TimeOrNull returns a time, or null when it is zero.
func TimeOrNull(t time.Time) *messaging.UnixTime {
	if t.IsZero() {
		return nil
	}
	return &messaging.UnixTime{Time: t}
}

// Instant returns the time of UNIX seconds in a query; 0 is the zero time.
func Instant(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
