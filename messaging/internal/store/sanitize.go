package store

import (
	"bytes"
	"encoding/json"
)

// WithoutNUL drops escaped NULs from JSON: no network and not every database
// takes them. JSON has no other way to write one.
func WithoutNUL(raw json.RawMessage) json.RawMessage {
	const nul = `\u0000`
	if !bytes.Contains(raw, []byte(nul)) {
		return raw
	}
	out := make(json.RawMessage, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch {
		case bytes.HasPrefix(raw[i:], []byte(nul)):
			i += len(nul) - 1
		case raw[i] == '\\' && i+1 < len(raw):
			out = append(out, raw[i], raw[i+1])
			i++
		default:
			out = append(out, raw[i])
		}
	}
	return out
}
