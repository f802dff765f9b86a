package graph

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"
)

// ID decodes an id that is a JSON string or an integer, without loss: a float64
// cannot hold an id of nineteen digits. Null is "".
type ID string

// UnmarshalJSON refuses everything but a string, an integer and null.
func (id *ID) UnmarshalJSON(raw []byte) error {
	switch {
	case string(raw) == "null":
		*id = ""
	case len(raw) > 0 && raw[0] == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		*id = ID(s)
	case integer(raw):
		*id = ID(raw)
	default:
		return errors.New("an id must be a string or an integer")
	}
	return nil
}

func integer(raw []byte) bool {
	if len(raw) > 1 && raw[0] == '-' {
		raw = raw[1:]
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(raw) > 0
}

// Time decodes a time in UNIX seconds or milliseconds, as a JSON string or
// number. An invalid time is the zero time, so that the rest of the message can
// be used.
type Time struct{ time.Time }

const (
	firstMillis = 1e11 // in seconds this is the year 5138
	lastMillis  = 253402300799 * 1000
)

// UnmarshalJSON never fails.
func (t *Time) UnmarshalJSON(raw []byte) error {
	t.Time = time.Time{}
	if len(raw) > 1 && raw[0] == '"' {
		raw = raw[1 : len(raw)-1]
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	switch {
	case err != nil || n <= 0 || n > lastMillis: // zero
	case n >= firstMillis:
		t.Time = time.UnixMilli(n).UTC()
	default:
		t.Time = time.Unix(n, 0).UTC()
	}
	return nil
}

// text decodes a string; anything else is "".
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	var s string
	_ = json.Unmarshal(raw, &s)
	*t = text(s)
	return nil
}
