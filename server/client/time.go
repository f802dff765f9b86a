package client

import (
	"fmt"
	"strconv"
	"time"
)

// Time is a time whose JSON is UNIX seconds.
type Time struct{ time.Time }

// MarshalJSON writes UNIX seconds.
func (t Time) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, t.Unix(), 10), nil }

// UnmarshalJSON reads UNIX seconds; null is the zero time.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = Time{}
		return nil
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("client: a time must be UNIX seconds: %w", err)
	}
	*t = Time{time.Unix(n, 0).UTC()}
	return nil
}
