package flows

import (
	"context"
	"errors"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// registerBotRuns are the runs of bots.
func (a *Runs) registerBotRuns(api *httpapi.API) {
	missing := []int{http.StatusNotFound}
	httpapi.Register(api, httpapi.Operation{
		ID: "Botengine_Run", On: httpapi.At("path.botId"), Method: http.MethodPost, Path: "/bot/{botId}/run", Summary: "Have a bot take one turn in a chat",
		About: "As if the contact had written `input`: a conversation of the bot that waits in the chat goes on, else one begins, whatever its trigger says. " +
			"The published version runs, or the draft of a bot that was never published. Answers after the turn, at the latest after 10 s.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, auth.BotsManage, a.runBot)
	httpapi.Register(api, httpapi.Operation{
		ID: "Botengine_Runs", On: httpapi.At("path.botId"), Method: http.MethodGet, Path: "/bot/{botId}/runs", Summary: "List the runs of a bot, the newest first", Errors: missing,
	}, auth.BotsManage, a.listBotRuns)
	httpapi.Register(api, httpapi.Operation{
		ID: "Botengine_Detail", On: httpapi.At("path.runId"), Method: http.MethodGet, Path: "/bot/run/{runId}", Summary: "Show a run of a bot with its steps", Errors: missing,
	}, auth.BotsManage, a.showBotRun)
}

// runDetail is a run with all that it did.
type runDetail struct {
	view.RunView
	Steps     []stepView          `json:"steps" nullable:"false" doc:"The last 1,000."`
	Sent      []messaging.Message `json:"sent" nullable:"false" doc:"The last 1,000 messages that it sent."`
	Variables map[string]any      `json:"variables" nullable:"false" doc:"As they are now, or were last; secret ones are left out."`
	Agent     []agentEntry        `json:"agent" nullable:"false" doc:"What its agents did, in order: the last 200 answers, calls and what they were told."`
}

// viewDetail adds the records of what a run sent.
func (a *Runs) viewDetail(ctx context.Context, c httpapi.Call, d runtime.Detail) (runDetail, error) {
	v := runDetail{RunView: view.NewRunView(d.Run), Steps: make([]stepView, len(d.Steps)), Sent: []messaging.Message{}, Variables: d.Variables}
	for i, step := range d.Steps {
		v.Steps[i] = viewStep(step)
	}
	if err := a.withUsage(ctx, c.Account, &v.RunView); err != nil {
		return v, err
	}
	var err error
	if v.Agent, err = a.agentEntries(ctx, d.Run); err != nil {
		return v, err
	}
	if len(d.Sent) == 0 {
		return v, nil
	}
	sent, err := a.Messaging.For(c.Account).Listed(ctx, provider.ReferenceID(d.Chat.Reference), d.Chat.ID, d.Sent)
	if err != nil && !errors.Is(err, messaging.ErrNotFound) { // the chat was erased
		return v, err
	}
	v.Sent = append(v.Sent, sent...)
	return v, nil
}

// stepView is a step of a run.
type stepView struct {
	Seq        int                `json:"seq" doc:"Counts through the run, from 1."`
	Node       string             `json:"node"`
	Type       string             `json:"type"`
	Output     *string            `json:"output" doc:"By which it was left; null while it waits, and where a graph ends."`
	Path       []string           `json:"path" nullable:"false" doc:"The frames above the node, as each[2] and call:vat; the rounds of a loop count from 0."`
	At         messaging.UnixTime `json:"at"`
	DurationMs int64              `json:"durationMs" doc:"How long it waited."`
	In         map[string]any     `json:"in" nullable:"false" doc:"What the node was given; secrets are masked."`
	Out        map[string]any     `json:"out" nullable:"false" doc:"What it made."`
	Error      *flow.Error        `json:"error"`
	Warning    *string            `json:"warning" doc:"What the node passed over."`
	Retry      *int               `json:"retry" doc:"Counts the retries of the run, on the first step after one; else null."`
}

func viewStep(r runtime.Step) stepView {
	v := stepView{
		Seq: r.Seq, Node: r.Node, Type: r.Type, Output: view.OrNull(r.Output), Path: r.Path, At: messaging.UnixTime{Time: r.At},
		DurationMs: r.Duration.Milliseconds(), In: r.In, Out: r.Out, Error: r.Error, Warning: view.OrNull(r.Warning),
	}
	if r.Retry > 0 {
		v.Retry = &r.Retry
	}
	if v.Path == nil {
		v.Path = []string{}
	}
	if v.In == nil {
		v.In = map[string]any{}
	}
	if v.Out == nil {
		v.Out = map[string]any{}
	}
	return v
}

type runReply struct {
	Run runDetail `json:"run"`
}

type botRun struct {
	ID   string `path:"botId" maxLength:"64" doc:"Id of the bot."`
	Body struct {
		ChatID string `json:"chatId" minLength:"1" maxLength:"512" example:"ana@sandbox"`
		Input  string `json:"input" maxLength:"65536" doc:"What the contact says." example:"Hello"`
		Draft  bool   `json:"draft,omitempty" doc:"Run the draft, whatever is published."`
	}
}

func (a *Runs) runBot(ctx context.Context, c httpapi.Call, in *botRun) (runReply, error) {
	b, err := a.Bots.For(c.Account).Bots().Get(ctx, in.ID)
	if err != nil {
		return runReply{}, err
	}
	ref := provider.ReferenceID(b.Reference)
	key, chatID, err := a.Messaging.For(c.Account).ChatKey(ctx, ref, in.Body.ChatID)
	if err != nil {
		return runReply{}, err
	}
	d, err := a.Bots.For(c.Account).Runs().Start(ctx, in.ID, botengine.Manual{Chat: view.RunChat(c.Account, ref, key, chatID), Text: in.Body.Input, Draft: in.Body.Draft})
	if err != nil {
		return runReply{}, err
	}
	v, err := a.viewDetail(ctx, c, d)
	return runReply{v}, err
}

func (a *Runs) listBotRuns(ctx context.Context, c httpapi.Call, in *botPage) (view.Page[view.RunView], error) {
	p, err := a.Bots.For(c.Account).Runs().List(ctx, in.ID, in.List())
	return a.shownRuns(ctx, c, p, err)
}

type runID struct {
	ID string `path:"runId" maxLength:"64" doc:"Id of the run."`
}

func (a *Runs) showBotRun(ctx context.Context, c httpapi.Call, in *runID) (runDetail, error) {
	d, err := a.Bots.For(c.Account).Runs().Get(ctx, in.ID)
	if err != nil {
		return runDetail{}, err
	}
	return a.viewDetail(ctx, c, d)
}
