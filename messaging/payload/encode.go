package payload

import (
	"bytes"
	"encoding/json"
)

// MustEncode is Encode for values that always can be encoded, as those of this
// package. It panics otherwise.
func MustEncode(v any) json.RawMessage {
	b, err := Encode(v)
	if err != nil {
		panic("payload: encoding: " + err.Error())
	}
	return b
}

// Encode encodes a value as JSON for receivers of JSON, not for pages: < and &
// stay as they are.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// Join puts the members of b behind those of a, which has some.
func Join(a, b json.RawMessage) json.RawMessage {
	if len(b) <= len("{}") {
		return a
	}
	out := make(json.RawMessage, 0, len(a)+len(b)-1)
	out = append(append(out, a[:len(a)-1]...), ',')
	return append(out, b[1:]...)
}
