package store

import (
	"encoding/json"
	"slices"

	"github.com/trunklinehq/trunkline/messaging/payload"
)

// mergeTags joins two stored lists of tags.
func mergeTags(a, b string) string {
	var all, more []string
	_, _ = json.Unmarshal([]byte(a), &all), json.Unmarshal([]byte(b), &more) // written by this package
	for _, t := range more {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return string(payload.MustEncode(append([]string{}, all...)))
}

// MergeObjects lays the members of over upon those of base; null removes.
func MergeObjects(base, over string) string {
	out := DecodeObject(base)
	for name, v := range DecodeObject(over) {
		if string(v) == "null" {
			delete(out, name)
			continue
		}
		out[name] = v
	}
	return string(payload.MustEncode(out))
}

// DecodeObject reads a stored JSON object.
func DecodeObject(s string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	_ = json.Unmarshal([]byte(s), &out) // written by this package
	return out
}
