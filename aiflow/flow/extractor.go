package flow

import "time"

// Extractor understands text. Its answers must depend on its arguments
// alone, for a turn may be computed twice.
type Extractor interface {
	// Entities finds values of the given types, and of dictionaries, by type.
	Entities(text string, types []string, locale string, now time.Time) (map[string]any, error)
	// Intent ranks the intents of an extractor: the best two, better first.
	Intent(extractor, text, locale string) ([]Intent, error)
}

// Intent is what somebody may have meant.
type Intent struct {
	ID         string  `json:"id"`
	Confidence float64 `json:"confidence"` // from 0 to 1
}
