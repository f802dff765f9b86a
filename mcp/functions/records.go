package functions

import (
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging"
)

// slim removes the parts of a message that a model cannot read and that fill its
// context, such as pictures as text.
func slim(m *messaging.Message) {
	m.JPEGThumbnail, m.Waveform = "", ""
}

// objects encodes records as all answers of the service do.
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
