package graphtest

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// reply is an answer: a value, an error of the API, or raw bytes.
type reply struct {
	status     int
	value      any
	fail       *failure
	raw        string
	retryAfter time.Duration
}

// failure is the API's error envelope.
type failure struct {
	code, subcode int
	kind          string // "": OAuthException
	message       string
	details       string
	transient     bool
}

func ok(value any) *reply { return &reply{status: http.StatusOK, value: value} }

var success = ok(map[string]bool{"success": true})

// refuse answers with status 400, as nearly all errors do.
func refuse(code int, format string, args ...any) *reply {
	return &reply{status: http.StatusBadRequest, fail: &failure{code: code, message: fmt.Sprintf(format, args...)}}
}

// detailed adds details of an error.
func detailed(code int, message, details string) *reply {
	return &reply{status: http.StatusBadRequest, fail: &failure{code: code, message: message, details: details}}
}

// absent is the answer for an object that does not exist or that the token may
// not read.
func absent(method, id string) *reply {
	return &reply{status: http.StatusBadRequest, fail: &failure{
		code: 100, subcode: 33, kind: "GraphMethodException",
		message: fmt.Sprintf("Unsupported %s request. Object with ID '%s' does not exist, cannot be loaded due to missing permissions, or does not support this operation", method, id),
	}}
}

func (r *reply) write(w http.ResponseWriter) {
	if r.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(r.retryAfter.Seconds()))))
	}
	if r.fail == nil && r.value == nil {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(r.status)
		_, _ = w.Write([]byte(r.raw))
		return
	}
	value := r.value
	if r.fail != nil {
		value = map[string]any{"error": r.fail.envelope()}
	}
	body, err := json.Marshal(value)
	if err != nil {
		panic(err) // the values of this package can be encoded
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(r.status)
	_, _ = w.Write(body)
}

func (f *failure) envelope() map[string]any {
	e := map[string]any{"message": f.message, "type": "OAuthException", "code": f.code, "fbtrace_id": "A" + random(12)}
	if f.kind != "" {
		e["type"] = f.kind
	}
	if f.subcode != 0 {
		e["error_subcode"] = f.subcode
	}
	if f.details != "" {
		e["error_data"] = map[string]any{"messaging_product": "whatsapp", "details": f.details}
	}
	if f.transient {
		e["is_transient"] = true
	}
	return e
}

// newID returns a message id like Meta's: base64 with all its characters.
func newID() string {
	var raw [28]byte
	_, _ = rand.Read(raw[:]) // never fails
	return "wamid." + base64.StdEncoding.EncodeToString(raw[:])
}

func random(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}
