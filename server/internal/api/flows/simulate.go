package flows

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// Simulations plays bots and flows without a line, and past runs again.
type Simulations struct {
	Bots      *botengine.Service
	Flows     *aiflow.Service
	Message   func(messaging.MessagePayload) map[string]any // a message as flows see it
	Messaging *messaging.Service
	Now       func() time.Time
	Runs      *runtime.Runtime
	Snapshot  func(context.Context, runtime.Chat) (runtime.Snapshot, error)
}

// Register adds the operations of the resource.
func (a *Simulations) Register(api *httpapi.API) {
	const bot, flow = "/bot/{botId}", "/aiflow/flow/{flowId}"
	httpapi.Register(api, simulateOperation("Botengine_Simulate", bot), auth.BotsManage, func(ctx context.Context, c httpapi.Call, in *botSimulation) (simulation, error) {
		return play(ctx, a.Bots.For(c.Account).Tests(), in.ID, &in.Body)
	})
	httpapi.Register(api, simulateOperation("Aiflow_Simulate", flow), auth.FlowsManage, func(ctx context.Context, c httpapi.Call, in *flowSimulation) (simulation, error) {
		return play(ctx, a.Flows.For(c.Account).Tests(), in.ID, &in.Body)
	})
	httpapi.Register(api, testsOperation("Botengine_Tests", bot), auth.BotsManage, func(ctx context.Context, c httpapi.Call, in *botID) (testList, error) {
		return showTests(ctx, a.Bots.For(c.Account).Tests(), in.ID)
	})
	httpapi.Register(api, testsOperation("Aiflow_Tests", flow), auth.FlowsManage, func(ctx context.Context, c httpapi.Call, in *flowID) (testList, error) {
		return showTests(ctx, a.Flows.For(c.Account).Tests(), in.ID)
	})
	httpapi.Register(api, setTestsOperation("Botengine_SetTests", bot), auth.BotsManage, func(ctx context.Context, c httpapi.Call, in *botTests) (testList, error) {
		return setTests(ctx, a.Bots.For(c.Account).Tests(), in.ID, in.Body)
	})
	httpapi.Register(api, setTestsOperation("Aiflow_SetTests", flow), auth.FlowsManage, func(ctx context.Context, c httpapi.Call, in *flowTests) (testList, error) {
		return setTests(ctx, a.Flows.For(c.Account).Tests(), in.ID, in.Body)
	})
	httpapi.Register(api, testOperation("Botengine_Test", bot), auth.BotsManage, func(ctx context.Context, c httpapi.Call, in *botTest) (testReport, error) {
		return runTests(ctx, a.Bots.For(c.Account).Tests(), in.ID, in.Body)
	})
	httpapi.Register(api, testOperation("Aiflow_Test", flow), auth.FlowsManage, func(ctx context.Context, c httpapi.Call, in *flowTest) (testReport, error) {
		return runTests(ctx, a.Flows.For(c.Account).Tests(), in.ID, in.Body)
	})
	a.registerReplay(api)
}

func simulateOperation(id, path string) httpapi.Operation {
	return httpapi.Operation{
		ID: id, On: ofPath(path), Method: http.MethodPost, Path: path + "/simulate", Summary: "Play a step of a conversation that nobody has",
		About: "Without `state` a run begins, whatever the trigger says, and `input` or `message` is what began it; else `state` is that of the answer before, and one thing " +
			"happens: `input`, `message`, `advance`, `event`, `take`, `close`, `approve` or `cancel`. Nothing is sent or kept; calls have the answers of `given.mocks`, and " +
			"fail with `simulate.no_mock` where none fits. A state of another draft is a 409: begin anew.",
		MaxBody: documentBody, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}
}

// simulationInput is a step of a simulation.
type simulationInput struct {
	Version int64         `json:"version,omitempty" minimum:"0" doc:"That is played; 0: the draft."`
	State   view.Document `json:"state,omitempty" doc:"Of the answer before, as it is; without it a run begins."`
	Given   view.Document `json:"given,omitempty" doc:"The world of a run that begins: now, contact, chat, input, args, vars, mocks, refuse."`
	Input   *string       `json:"input,omitempty" maxLength:"65536" doc:"What the contact writes." example:"Hello"`
	Message view.Document `json:"message,omitempty" doc:"What the contact writes, if it is no text: as expressions see it."`
	Advance string        `json:"advance,omitempty" maxLength:"64" doc:"So much time passes: an ISO 8601 duration." example:"PT1H"`
	Event   *struct {
		Name string         `json:"name" minLength:"1" maxLength:"64"`
		Data map[string]any `json:"data,omitempty"`
	} `json:"event,omitempty"`
	Take    bool  `json:"take,omitempty" doc:"A person takes the chat."`
	Close   bool  `json:"close,omitempty" doc:"The person is done."`
	Approve *bool `json:"approve,omitempty" doc:"Whether an agent that asks may use its tool."`
	Cancel  bool  `json:"cancel,omitempty"`
}

type botSimulation struct {
	ID   string `path:"botId" maxLength:"64" doc:"Id of the bot."`
	Body simulationInput
}

type flowSimulation struct {
	ID   string `path:"flowId" maxLength:"64" doc:"Id of the flow."`
	Body simulationInput
}

// step is what is to happen, in the form of a test; nil: nothing is.
func (in *simulationInput) step() (*simulate.Step, error) {
	var steps []simulate.Step
	add := func(is bool, s simulate.Step) {
		if is {
			steps = append(steps, s)
		}
	}
	if in.Input != nil {
		add(true, simulate.Step{Send: &simulate.Message{"type": "text", "text": *in.Input}})
	}
	if in.Message != nil {
		var message map[string]any
		if err := json.Unmarshal(in.Message, &message); err != nil || message == nil {
			return nil, httpapi.Invalid("body.message", "must be an object")
		}
		add(true, simulate.Step{Send: (*simulate.Message)(&message)})
	}
	if in.Event != nil {
		add(true, simulate.Step{Event: &flow.Event{Name: in.Event.Name, Data: in.Event.Data}})
	}
	add(in.Advance != "", simulate.Step{Advance: in.Advance})
	add(in.Take, simulate.Step{Handoff: "assigned"})
	add(in.Close, simulate.Step{Handoff: "closed"})
	add(in.Approve != nil, simulate.Step{Approve: in.Approve})
	add(in.Cancel, simulate.Step{Cancel: true})
	switch len(steps) {
	case 0:
		return nil, nil
	case 1:
		return &steps[0], nil
	}
	return nil, httpapi.Invalid("body", "one thing can happen at once")
}

// action is what is done with a program.
type action func(p *flow.Program) (*simulate.Session, simulate.Result, error)

// play has a run begin or continue.
func play(ctx context.Context, of versions.Tests, id string, in *simulationInput) (simulation, error) {
	do, err := in.action()
	if err != nil {
		return simulation{}, err
	}
	doc, program, err := of.Program(ctx, id, in.Version)
	if err != nil {
		return simulation{}, err
	}
	session, result, err := do(program)
	if err != nil {
		return simulation{}, misplaced("body", err)
	}
	return viewSimulation(doc, session, result)
}

func (in *simulationInput) action() (action, error) {
	step, err := in.step()
	switch {
	case err != nil:
		return nil, err
	case in.State == nil:
		return in.begin(step)
	case in.Given != nil:
		return nil, httpapi.Invalid("body.given", "is in the state already")
	}
	session, err := simulate.ParseSession(in.State)
	if err != nil {
		return nil, misplaced("body.state", err)
	}
	if step == nil {
		return nil, httpapi.Invalid("body", "must say what happens next")
	}
	return func(p *flow.Program) (*simulate.Session, simulate.Result, error) {
		result, err := session.Happen(p, *step)
		return session, result, err
	}, nil
}

// begin is the action of a run that begins.
func (in *simulationInput) begin(step *simulate.Step) (action, error) {
	var given simulate.Given
	if in.Given != nil {
		var err error
		if given, err = simulate.ParseGiven(in.Given); err != nil {
			return nil, misplaced("body.given", err)
		}
	}
	switch {
	case step == nil:
	case step.Send == nil:
		return nil, httpapi.Invalid("body.state", "is required: nothing but a message begins a run")
	case given.Input != nil:
		return nil, httpapi.Invalid("body.given.input", "is said beside it already")
	default:
		given.Input = *step.Send
	}
	return func(p *flow.Program) (*simulate.Session, simulate.Result, error) {
		session, result, err := simulate.Start(p, given)
		if err != nil && httpapi.Refusal(err) == nil {
			err = httpapi.Invalid("body.given", err.Error())
		}
		return session, result, err
	}, nil
}

// misplaced is err with the place in the request.
func misplaced(place string, err error) error {
	if bad, ok := errors.AsType[*simulate.Invalid](err); ok {
		return httpapi.Invalid(place+bad.Path, bad.Message)
	}
	return err
}
