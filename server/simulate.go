package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
	"github.com/trunklinehq/trunkline/server/auth"
)

// rehearsed are the bots or the flows of an account: what can be played
// without a line.
type rehearsed interface {
	Program(ctx context.Context, id string, version int64) (*flow.Document, *flow.Program, error)
	Tests(ctx context.Context, id string) (json.RawMessage, error)
	SetTests(ctx context.Context, id string, tests json.RawMessage) error
}

// simulationRoutes simulate and test bots and flows.
func (s *Server) simulationRoutes(a *api) {
	const bot, flow = "/bot/{botId}", "/aiflow/flow/{flowId}"
	register(a, simulateOperation("Botengine_Simulate", bot), auth.BotsManage, func(ctx context.Context, c call, in *botSimulation) (simulation, error) {
		return play(ctx, s.bots(c), in.ID, &in.Body)
	})
	register(a, simulateOperation("Aiflow_Simulate", flow), auth.FlowsManage, func(ctx context.Context, c call, in *flowSimulation) (simulation, error) {
		return play(ctx, s.flows(c), in.ID, &in.Body)
	})
	register(a, testsOperation("Botengine_Tests", bot), auth.BotsManage, func(ctx context.Context, c call, in *botID) (testList, error) {
		return showTests(ctx, s.bots(c), in.ID)
	})
	register(a, testsOperation("Aiflow_Tests", flow), auth.FlowsManage, func(ctx context.Context, c call, in *flowID) (testList, error) {
		return showTests(ctx, s.flows(c), in.ID)
	})
	register(a, setTestsOperation("Botengine_SetTests", bot), auth.BotsManage, func(ctx context.Context, c call, in *botTests) (testList, error) {
		return setTests(ctx, s.bots(c), in.ID, in.Body)
	})
	register(a, setTestsOperation("Aiflow_SetTests", flow), auth.FlowsManage, func(ctx context.Context, c call, in *flowTests) (testList, error) {
		return setTests(ctx, s.flows(c), in.ID, in.Body)
	})
	register(a, testOperation("Botengine_Test", bot), auth.BotsManage, func(ctx context.Context, c call, in *botTest) (testReport, error) {
		return runTests(ctx, s.bots(c), in.ID, in.Body)
	})
	register(a, testOperation("Aiflow_Test", flow), auth.FlowsManage, func(ctx context.Context, c call, in *flowTest) (testReport, error) {
		return runTests(ctx, s.flows(c), in.ID, in.Body)
	})
}

func simulateOperation(id, path string) operation {
	return operation{
		id: id, method: http.MethodPost, path: path + "/simulate", summary: "Play a step of a conversation that nobody has",
		about: "Without `state` a run begins, whatever the trigger says, and `input` is what began it; else `state` is that of the answer before, and one thing " +
			"happens: `input`, `advance`, `event`, `take`, `close`, `approve` or `cancel`. Nothing is sent or kept; calls have the answers of `given.mocks`, and " +
			"fail with `simulate.no_mock` where none fits. A state of another draft is a 409: begin anew.",
		maxBody: documentBody, errors: []int{http.StatusNotFound, http.StatusConflict},
	}
}

// spoken is what a contact writes: a text, or a message as expressions see it.
type spoken struct{ message *simulate.Message }

// UnmarshalJSON reads a text or an object.
func (s *spoken) UnmarshalJSON(raw []byte) error { return json.Unmarshal(raw, &s.message) }

// Schema says so.
func (spoken) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "What the contact writes: a text, or an object as expressions see it.",
		OneOf:       []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeObject, AdditionalProperties: true}},
		Examples:    []any{"Hello"},
	}
}

// simulationInput is a step of a simulation.
type simulationInput struct {
	Version int64    `json:"version,omitempty" minimum:"0" doc:"That is played; 0: the draft."`
	State   document `json:"state,omitempty" doc:"Of the answer before, as it is; without it a run begins."`
	Given   document `json:"given,omitempty" doc:"The world of a run that begins: now, contact, chat, input, args, vars, mocks, refuse."`
	Input   *spoken  `json:"input,omitempty"`
	Advance string   `json:"advance,omitempty" maxLength:"64" doc:"So much time passes: an ISO 8601 duration." example:"PT1H"`
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

// step is what is to happen, in the form of a test.
func (in *simulationInput) step() (simulate.Step, error) {
	var steps []simulate.Step
	add := func(is bool, s simulate.Step) {
		if is {
			steps = append(steps, s)
		}
	}
	if in.Input != nil {
		add(true, simulate.Step{Send: in.Input.message})
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
		return simulate.Step{}, nil
	case 1:
		return steps[0], nil
	}
	return simulate.Step{}, invalid("body", "one thing can happen at once")
}

// play has a run begin or go on.
func play(ctx context.Context, of rehearsed, id string, in *simulationInput) (simulation, error) {
	doc, program, err := of.Program(ctx, id, in.Version)
	if err != nil {
		return simulation{}, err
	}
	step, err := in.step()
	if err != nil {
		return simulation{}, err
	}
	var session *simulate.Session
	var result simulate.Result
	if in.State == nil {
		session, result, err = beginPlay(program, in, step)
	} else {
		session, result, err = goOn(program, in, step)
	}
	if err != nil {
		return simulation{}, err
	}
	return viewSimulation(doc, session, result)
}

func beginPlay(p *flow.Program, in *simulationInput, step simulate.Step) (*simulate.Session, simulate.Result, error) {
	var given simulate.Given
	if in.Given != nil {
		var err error
		if given, err = simulate.ParseGiven(in.Given); err != nil {
			return nil, simulate.Result{}, misplaced("body.given", err)
		}
	}
	switch {
	case step.Send != nil && given.Input != nil:
		return nil, simulate.Result{}, invalid("body.given.input", "is said by body.input already")
	case step.Send != nil:
		given.Input = *step.Send
	case step != simulate.Step{}:
		return nil, simulate.Result{}, invalid("body.state", "is required: nothing but input begins a run")
	}
	session, result, err := simulate.Start(p, given)
	if err != nil && simulationProblem(err) == nil {
		err = invalid("body.given", err.Error())
	}
	return session, result, err
}

func goOn(p *flow.Program, in *simulationInput, step simulate.Step) (*simulate.Session, simulate.Result, error) {
	if in.Given != nil {
		return nil, simulate.Result{}, invalid("body.given", "is in the state already")
	}
	session, err := simulate.ParseSession(in.State)
	if err != nil {
		return nil, simulate.Result{}, misplaced("body.state", err)
	}
	result, err := session.Happen(p, step)
	return session, result, misplaced("body", err)
}

// misplaced is err with the place in the request.
func misplaced(place string, err error) error {
	var bad *simulate.Invalid
	if errors.As(err, &bad) {
		return invalid(place+bad.Path, bad.Message)
	}
	return err
}

// simulationProblem translates the errors of package simulate.
func simulationProblem(err error) *Problem {
	switch {
	case errors.Is(err, flow.ErrNotWaiting):
		return problem(codeConflict, "the run does not wait for this")
	case errors.Is(err, flow.ErrOtherDocument):
		return problem(codeConflict, "the flow has changed since the simulation began: begin anew")
	case errors.Is(err, simulate.ErrEndless):
		return problem(codeConflict, "the flow goes on and on without waiting for anything")
	case errors.Is(err, simulate.ErrState):
		return invalid("body.state", "is not as it was given")
	}
	return nil
}
