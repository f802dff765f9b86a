package payload

import (
	"fmt"
	"strconv"
	"time"
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

// TimeOf is the time of so many microseconds since 1970; 0 is the zero time.
func TimeOf(us int64) UnixTime {
	if us == 0 {
		return UnixTime{}
	}
	return UnixTime{time.UnixMicro(us).UTC()}
}

// OptionalTime is nil for the zero instant.
func OptionalTime(us int64) *UnixTime {
	if us == 0 {
		return nil
	}
	t := TimeOf(us)
	return &t
}
