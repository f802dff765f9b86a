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

// Simulations plays bots and flows without a reference, and past runs again.
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
		ID: id, On: ofPath(path), Method: http.MethodPost, Path: path + "/simulate", Summary: "Simulate one step of a conversation",
		About: "Without `state` a new run starts, regardless of the trigger, with `input` or `message`. Otherwise give the `state` of the previous response and exactly one " +
			"event: `input`, `message`, `advance`, `event`, `take`, `close`, `approve` or `cancel`. Nothing is sent or stored. Calls get the answers of `given.mocks`; " +
			"a call without one fails with `simulate.no_mock`. A state of another draft answers 409: start a new simulation.",
		MaxBody: documentBody, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}
}

// simulationInput is a step of a simulation.
type simulationInput struct {
	Version int64         `json:"version,omitempty" minimum:"0" doc:"The version to play. 0 is the draft."`
	State   view.Document `json:"state,omitempty" doc:"The state of the previous answer, unchanged. If absent, a new run starts."`
	Given   view.Document `json:"given,omitempty" doc:"The environment of a new run: now, contact, chat, input, args, vars, mocks, refuse."`
	Input   *string       `json:"input,omitempty" maxLength:"65536" doc:"Text that the contact writes." example:"Hello"`
	Message view.Document `json:"message,omitempty" doc:"A message of the contact that is not a text, in the form that expressions use."`
	Advance string        `json:"advance,omitempty" maxLength:"64" doc:"Time that passes, as an ISO 8601 duration." example:"PT1H"`
	Event   *struct {
		Name string         `json:"name" minLength:"1" maxLength:"64"`
		Data map[string]any `json:"data,omitempty"`
	} `json:"event,omitempty"`
	Take    bool  `json:"take,omitempty" doc:"A person takes over the chat."`
	Close   bool  `json:"close,omitempty" doc:"The person gives the chat back."`
	Approve *bool `json:"approve,omitempty" doc:"Whether an agent that waits for approval may call its tool."`
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
	return nil, httpapi.Invalid("body", "must have only one of input, message, advance, event, take, close, approve and cancel")
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
		return nil, httpapi.Invalid("body.given", "is only allowed without state, which has it already")
	}
	session, err := simulate.ParseSession(in.State)
	if err != nil {
		return nil, misplaced("body.state", err)
	}
	if step == nil {
		return nil, httpapi.Invalid("body", "must have one of input, message, advance, event, take, close, approve and cancel")
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
		return nil, httpapi.Invalid("body.state", "is required: without it, a run starts, and only input or message can start one")
	case given.Input != nil:
		return nil, httpapi.Invalid("body.given.input", "cannot be combined with input or message")
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
