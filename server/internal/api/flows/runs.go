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
		ID: "Botengine_Run", On: httpapi.At("path.botId"), Method: http.MethodPost, Path: "/bot/{botId}/run", Summary: "Let a bot take one turn in a chat",
		About: "Works as if the contact had written `input`: the bot's waiting conversation in the chat continues, or a new one starts regardless of the trigger. " +
			"Uses the published version, or the draft of a bot that was never published. Answers after the turn, and after 10 seconds at the latest.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, auth.BotsManage, a.runBot)
	httpapi.Register(api, httpapi.Operation{
		ID: "Botengine_Runs", On: httpapi.At("path.botId"), Method: http.MethodGet, Path: "/bot/{botId}/runs", Summary: "List the runs of a bot, newest first", Errors: missing,
	}, auth.BotsManage, a.listBotRuns)
	httpapi.Register(api, httpapi.Operation{
		ID: "Botengine_Detail", On: httpapi.At("path.runId"), Method: http.MethodGet, Path: "/bot/run/{runId}", Summary: "Show a run of a bot with its steps", Errors: missing,
	}, auth.BotsManage, a.showBotRun)
}

// runDetail is a run with all that it did.
type runDetail struct {
	view.RunView
	Steps     []stepView          `json:"steps" nullable:"false" doc:"The last 1,000 steps."`
	Sent      []messaging.Message `json:"sent" nullable:"false" doc:"The last 1,000 messages that the run sent."`
	Variables map[string]any      `json:"variables" nullable:"false" doc:"Current values, or the last values of an ended run. Secret variables are left out."`
	Agent     []agentEntry        `json:"agent" nullable:"false" doc:"Actions of the run's agents, in order: the last 200 answers, calls and messages."`
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
	Seq        int                `json:"seq" doc:"Number within the run, from 1."`
	Node       string             `json:"node"`
	Type       string             `json:"type"`
	Output     *string            `json:"output" doc:"The output that the run left the node by; null while it waits, and at the end of a graph."`
	Path       []string           `json:"path" nullable:"false" doc:"The frames above the node, for example each[2] and call:vat. Loop rounds count from 0."`
	At         messaging.UnixTime `json:"at"`
	DurationMs int64              `json:"durationMs" doc:"How long the step waited, in milliseconds."`
	In         map[string]any     `json:"in" nullable:"false" doc:"Input of the node, with secrets masked."`
	Out        map[string]any     `json:"out" nullable:"false" doc:"Output of the node."`
	Error      *flow.Error        `json:"error"`
	Warning    *string            `json:"warning" doc:"Something that the node ignored."`
	Retry      *int               `json:"retry" doc:"Number of the run's retry, on the first step after that retry; otherwise null."`
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
		Input  string `json:"input" maxLength:"65536" doc:"Text of the contact." example:"Hello"`
		Draft  bool   `json:"draft,omitempty" doc:"Whether to run the draft instead of the published version."`
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
