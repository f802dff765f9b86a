package functions

import (
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging"
)

// slim takes out of a message what no model can read and what fills its
// context: pictures as text.
func slim(m *messaging.Message) {
	m.JPEGThumbnail, m.Waveform = "", ""
}

// objects are records as they are in every answer of the service.
func objects[T any](items []T) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(items))
	for i, it := range items {
		b, err := json.Marshal(it)
		if err != nil {
			return nil, fmt.Errorf("writing a record: %w", err)
		}
		out[i] = b
	}
	return out, nil
}

// text is s, or "" for nil.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
