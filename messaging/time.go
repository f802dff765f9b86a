package messaging

import (
	"fmt"
	"strconv"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// UnixTime is an instant whose JSON is whole UNIX seconds.
type UnixTime struct{ time.Time }

// MarshalJSON writes seconds since 1970.
func (t UnixTime) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, t.Unix(), 10), nil }

// UnmarshalJSON reads seconds since 1970.
func (t *UnixTime) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("a time is an integer of UNIX seconds")
	}
	t.Time = time.Unix(n, 0).UTC()
	return nil
}

func unixTime(us int64) UnixTime { return UnixTime{database.Time(us)} }

// optionalTime is nil for the zero instant.
func optionalTime(us int64) *UnixTime {
	if us == 0 {
		return nil
	}
	t := unixTime(us)
	return &t
}
