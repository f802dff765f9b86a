package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
)

// Bounds of request bodies in bytes.
const (
	MiB            = 1 << 20
	DefaultMaxBody = 1 * MiB
)

// UnreadableBody says why a body could not be read. What is neither too large nor too
// slow was cut off by the sender.
func UnreadableBody(err error) *Problem {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return NewProblem(CodePayloadTooLarge, "the body is larger than "+FormatSize(large.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return NewProblem(CodeRequestTimeout, "the body arrived too slowly: send the request again")
	}
	return Malformed("the body is cut off: send the request again")
}

// Malformed is a validation problem of a body that is no JSON at all.
func Malformed(detail string) *Problem {
	p := NewProblem(CodeValidation, detail)
	p.Title, p.Status = http.StatusText(http.StatusBadRequest), http.StatusBadRequest
	return p
}

// MemberError is returned by UnmarshalJSON of a type whose values no schema
// checks.
type MemberError struct{ At, Message string }

func (e *MemberError) Error() string { return e.At + ": " + e.Message }

// FormatSize writes a bound for people.
func FormatSize(bytes int64) string {
	if bytes >= MiB && bytes%MiB == 0 {
		return fmt.Sprintf("%d MiB", bytes/MiB)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// ExactObject is a JSON object whose numbers are as they were written: ids of
// other systems may be larger than a float64 holds.
type ExactObject map[string]any

// UnmarshalJSON reads an object.
func (o *ExactObject) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode((*map[string]any)(o))
}
