// Package modeltest is the conformance suite of llm.Model: the behaviour of models
// of all providers with scripted answers. It is for tests.
//
//	modeltest.Suite{Provider: "mine", HTTP: true, Start: start}.Run(t)
package modeltest

import (
	"testing"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// Script controls the answers of the model and records its requests: a
// [llmtest.Script] or a [llmtest.Server].
type Script interface {
	Requests() []llm.Request
	Count() llmtest.Count
	Done() error
}

// Suite tests an implementation of llm.Model.
type Suite struct {
	// Provider is the name of the provider in answers.
	Provider string
	// Start returns a model that answers by a script. limit is the timeout of a
	// call, if the model has one; 0: its default.
	Start func(t *testing.T, limit time.Duration, steps ...llmtest.Step) (llm.Model, Script)
	// HTTP reports that the model calls the script over HTTP, so that connections
	// can break and calls can time out.
	HTTP bool
	// Recorded reports that the model replays a record, so that nothing takes time.
	Recorded bool
	// OneHourCache reports that the provider counts caches of an hour separately.
	OneHourCache bool
	// Files are files that the model accepts, NoFiles files that it refuses.
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

// name is a model of every script.
const name = "model-1"

// ask returns a request with one question.
func ask(text string) *llm.Request {
	return &llm.Request{Model: name, Messages: []llm.Message{llm.User(text)}}
}
