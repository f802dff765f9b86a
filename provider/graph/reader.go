package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
)

// Reader collects what is read from one part of a callback. NetworkID and At
// distinguish items that have no id.
type Reader struct {
	NetworkID string // the network's id of the reference, or ""
	At        Value  // time of the entry, or nil
	Events    []provider.Event
	Bad       []provider.Bad
	seen      map[string]bool // keys of events
}

// Reject records an item that cannot be read.
func (r *Reader) Reject(reason string, item Value) {
	r.Bad = append(r.Bad, provider.Bad{Reason: reason, Body: json.RawMessage(item)})
}

// Add records an event unless it has one with the same key.
func (r *Reader) Add(key string, e provider.Event) {
	if r.seen[key] {
		return
	}
	if r.seen == nil {
		r.seen = make(map[string]bool, 1)
	}
	r.seen[key] = true
	r.Events = append(r.Events, e)
}

// Report records a report, whose key is its kind and id.
func (r *Reader) Report(e provider.Event) {
	raw := provider.RawOf(e)
	r.Add(raw.Kind+"\x00"+raw.ID, e)
}

// Raw records an item that is not interpreted.
func (r *Reader) Raw(id, kind string, body Value) {
	r.Report(&provider.Raw{ID: id, Kind: kind, Body: json.RawMessage(body)})
}

// Itself returns the original of a report. If the item has no id, its bytes
// identify it.
func (r *Reader) Itself(kind string, item Value) provider.Raw {
	return provider.Raw{ID: r.Key(kind, item), Kind: kind, Body: json.RawMessage(item)}
}

// Each calls read for the items of the array called name. A value that is not
// an array is rejected.
func (r *Reader) Each(name string, array Value, read func(item Value)) {
	if array == nil || jsonscan.Kind(array) == 'n' {
		return
	}
	if jsonscan.Kind(array) != '[' {
		r.Reject(name+" is no array", array)
		return
	}
	for item := range array.Items() {
		read(item)
	}
}

// Key returns an id for an item that has none. The same bytes about the same
// reference, in an entry of the same time, are a repeat.
func (r *Reader) Key(name string, item Value) string {
	h := sha256.New()
	for _, s := range [][]byte{[]byte(r.NetworkID), r.At, item} {
		h.Write(s)
		h.Write([]byte{0})
	}
	return name + ":" + hex.EncodeToString(h.Sum(nil)[:16])
}
