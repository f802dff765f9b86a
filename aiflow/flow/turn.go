package flow

import (
	"time"
)

// World is what a turn sees of the outside. It is frozen: all nodes of the
// turn see the same.
type World struct {
	Now     time.Time
	Run     RunInfo
	Contact map[string]any // as expressions see it; nil: the run has no chat
	Chat    map[string]any // {id, reference, variables}

	// Refused are effects of this very turn that could not be done when it
	// was first computed, by their id: a window that is closed, a type that
	// the line lacks. The turn takes the error outputs of their nodes.
	Refused map[string]*Error

	// Extractor finds entities and intents. Without one, nodes that need it
	// end with the code extract.unavailable.
	Extractor Extractor
}

// RunInfo is what expressions see as run.
type RunInfo struct {
	ID        string
	StartedAt time.Time
}

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
	Confidence float64 `json:"confidence"`
}

// Turn is one turn of a run: what [Program.Step] returns, and what a node
// works with while it takes its step.
type Turn struct {
	State   *State     // to be stored
	Effects []Effect   // in the order in which they are to be done
	Trace   []TraceRow // the steps taken
	// More says that the turn reached one of its limits. Others should have
	// their turns first; then it goes on with [Continue].
	More bool
}
