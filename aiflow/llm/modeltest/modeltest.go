// Package modeltest is the conformance suite of llm.Model: what every model
// does that is told what to answer, for every provider. It is for tests.
//
//	modeltest.Suite{Provider: "mine", HTTP: true, Start: start}.Run(t)
package modeltest

import (
	"testing"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// Script is what the model says, and what it was asked: a [llmtest.Script] or a
// [llmtest.Server].
type Script interface {
	Requests() []llm.Request
	Count() llmtest.Count
	Done() error
}

// Suite is a kind of model.
type Suite struct {
	// Provider is the name that answers give.
	Provider string
	// Start makes a model that answers by a script. One call of it takes at most
	// the time given, if the model has such a limit; 0: its default.
	Start func(t *testing.T, limit time.Duration, steps ...llmtest.Step) (llm.Model, Script)
	// HTTP says that there is a wire between the model and the script, so that
	// connections and time limits exist.
	HTTP bool
	// Recorded says that the model plays back, so that nothing takes time.
	Recorded bool
	// OneHourCache says that the provider tells caches of an hour apart.
	OneHourCache bool
	// Files are some that the model takes, NoFiles some that it does not.
	Files, NoFiles []llm.Part
}

// Run runs the suite.
func (s Suite) Run(t *testing.T) {
	t.Helper()
	for name, test := range map[string]func(*testing.T){
		"answers": s.answers, "tools": s.tools, "roundTrip": s.roundTrip, "schema": s.schema, "files": s.files,
		"streams": s.streams, "usage": s.usage, "stops": s.stops, "refusals": s.refusals, "arguments": s.arguments,
		"broken": s.broken, "sizes": s.sizes, "ends": s.ends, "retries": s.retries, "manyAtOnce": s.manyAtOnce,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// name is a model that every script knows.
const name = "model-1"

// ask is a request with one question.
func ask(text string) *llm.Request {
	return &llm.Request{Model: name, Messages: []llm.Message{llm.User(text)}}
}
