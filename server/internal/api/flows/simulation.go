package flows

import (
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// simulation is a run that is not stored, after something has happened.
type simulation struct {
	Messages   []simulatedMessage  `json:"messages" nullable:"false" doc:"Messages that this step sent."`
	Effects    []simulatedEffect   `json:"effects" nullable:"false" doc:"Other effects of this step."`
	Steps      []stepView          `json:"steps" nullable:"false" doc:"The last 1,000 node steps of this request."`
	Variables  map[string]any      `json:"variables" nullable:"false" doc:"Variables without the secret ones, which are in state."`
	Now        messaging.UnixTime  `json:"now" doc:"Time on the clock of the simulation."`
	WaitingFor *string             `json:"waitingFor" enum:"reply,timer,event,handoff,effect,approval"`
	Until      *messaging.UnixTime `json:"until" doc:"Time when it stops waiting."`
	Ended      *simulatedEnd       `json:"ended" doc:"null if the run has not ended."`
	State      view.Document       `json:"state" doc:"Send it with the next request."`
}

type simulatedMessage struct {
	Node    string             `json:"node"`
	At      messaging.UnixTime `json:"at"`
	Message view.Document      `json:"message" doc:"The message in the form of a send request."`
}

type simulatedEffect struct {
	Kind string             `json:"kind" enum:"call,contact,event,handoff,endHandoff,ask,jump"`
	Node string             `json:"node"`
	At   messaging.UnixTime `json:"at"`
	Data json.RawMessage    `json:"data" doc:"The request of a call, the name and data of an event, or the details of another effect."`
}

type simulatedEnd struct {
	Status flow.Status     `json:"status" enum:"completed,cancelled,failed"`
	Output json.RawMessage `json:"output" doc:"Any JSON value."`
	Error  *flow.Error     `json:"error"`
}

func viewSimulation(doc *flow.Document, s *simulate.Session, r simulate.Result) (simulation, error) {
	state, err := json.Marshal(s)
	if err != nil {
		return simulation{}, fmt.Errorf("writing a simulation: %w", err)
	}
	v := simulation{
		Messages: []simulatedMessage{}, Effects: []simulatedEffect{}, Steps: viewTrace(r.Trace, 1000), Variables: map[string]any{},
		Now: messaging.UnixTime{Time: s.Now}, State: state,
	}
	if err := v.did(r.Did); err != nil {
		return simulation{}, err
	}
	if len(s.State.Frames) > 0 {
		v.Variables = doc.Shown(s.State.Frames[0].Vars)
	}
	if w := s.State.Wait; w != nil {
		v.WaitingFor = view.OrNull(string(w.Kind))
		if !w.Until.IsZero() {
			v.Until = &messaging.UnixTime{Time: w.Until}
		}
	}
	if e := s.State.Ended; e != nil {
		output, err := json.Marshal(e.Output)
		if err != nil {
			return simulation{}, fmt.Errorf("writing an output: %w", err)
		}
		v.Ended = &simulatedEnd{e.Status, output, e.Error}
	}
	return v, nil
}

// did adds what was done.
func (v *simulation) did(all []simulate.Did) error {
	for _, d := range all {
		data, err := json.Marshal(d.Data())
		if err != nil {
			return fmt.Errorf("writing an effect: %w", err)
		}
		at := messaging.UnixTime{Time: d.At}
		if d.Kind == simulate.DidSend {
			v.Messages = append(v.Messages, simulatedMessage{d.Node, at, data})
		} else {
			v.Effects = append(v.Effects, simulatedEffect{d.Kind, d.Node, at, data})
		}
	}
	return nil
}

// viewTrace shows the last steps.
func viewTrace(rows []flow.TraceRow, limit int) []stepView {
	rows = rows[max(0, len(rows)-limit):]
	out := make([]stepView, len(rows))
	for i, row := range rows {
		out[i] = viewStep(runtime.Step{TraceRow: row})
	}
	return out
}
