package flows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// registerReplay play past runs against drafts.
func (a *Simulations) registerReplay(api *httpapi.API) {
	httpapi.Register(api, replayOperation("Aiflow_Replay", "/aiflow/flow/{flowId}"), auth.FlowsManage, func(ctx context.Context, c httpapi.Call, in *flowReplay) (replays, error) {
		return a.replayRuns(ctx, c, a.Flows.For(c.Account).Tests(), a.Flows.Name(), in.ID, in.Body)
	})
	ofBot := replayOperation("Botengine_Replay", "/bot/{botId}")
	ofBot.On = httpapi.At("path.botId", "body.chats.reference")
	httpapi.Register(api, ofBot, auth.BotsManage, func(ctx context.Context, c httpapi.Call, in *botReplay) (replays, error) {
		return a.replayRuns(ctx, c, a.Bots.For(c.Account).Tests(), a.Bots.Name(), in.ID, in.Body)
	})
}

func replayOperation(id, path string) httpapi.Operation {
	return httpapi.Operation{
		ID: id, On: ofPath(path), Method: http.MethodPost, Path: path + "/replay", Summary: "Replay past runs with the draft",
		About: "Sends the events of each run again, at the same times, to the version that it used and to the draft, and returns what the draft does differently. Nothing is " +
			"sent and no call is made: calls get the recorded answers. Without `runs` and `chats`, the last 20 runs are replayed. Events that are older than 30 " +
			"days are no longer stored.",
		Errors: []int{http.StatusNotFound},
	}
}

const (
	maxReplays = 50
	// maxReplayed bounds an answer, in bytes of what differs.
	maxReplayed = 8 << 20
)

// pastRuns chooses runs.
type pastRuns struct {
	Runs  []string     `json:"runs,omitempty" maxItems:"50" doc:"Ids of runs."`
	Chats []replayChat `json:"chats,omitempty" maxItems:"50" doc:"Ids of chats. Replays the newest runs in these chats, at most 50 in total."`
}

type replayChat struct {
	Reference provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
	ChatID    string               `json:"chatId" minLength:"1" maxLength:"512" example:"ana@sandbox"`
}

type flowReplay struct {
	ID   string `path:"flowId" maxLength:"64" doc:"Id of the flow."`
	Body pastRuns
}

type botReplay struct {
	ID   string `path:"botId" maxLength:"64" doc:"Id of the bot."`
	Body pastRuns
}

type replays struct {
	Items []replayView `json:"items" nullable:"false"`
	Next  *string      `json:"next" doc:"Always null: the list has one page."`
}

// replayView is what the draft does differently from the version of a run.
type replayView struct {
	RunID      string          `json:"runId"`
	Version    int64           `json:"version" doc:"The version that the run used."`
	Same       bool            `json:"same" doc:"Whether the draft does the same as that version."`
	Reproduced bool            `json:"reproduced" doc:"Whether that version takes the same path again. If not, the run depended on data that is not recorded, such as the contact's fields."`
	Status     beforeAfter     `json:"status" doc:"completed, failed, cancelled, or what the run waits for."`
	Output     *valueChange    `json:"output" doc:"null if the output is the same."`
	Variables  []valueChange   `json:"variables" nullable:"false"`
	Messages   []messageChange `json:"messages" nullable:"false"`
	Path       []pathChange    `json:"path" nullable:"false"`
	Calls      []replayedCall  `json:"calls" nullable:"false" doc:"Calls of the draft that the run did not make, or made with other data."`
	Untaken    []string        `json:"untaken" nullable:"false" doc:"Ids of messages that the draft did not wait for."`
	Problem    *string         `json:"problem" doc:"The reason why the run could not be replayed; null if it was replayed."`
}

type beforeAfter struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

type valueChange struct {
	Name   string          `json:"name" doc:"Name of the variable; empty for the output."`
	Before json.RawMessage `json:"before" doc:"Any JSON value."`
	After  json.RawMessage `json:"after" doc:"Any JSON value."`
}

type messageChange struct {
	Change  string        `json:"change" enum:"added,removed"`
	At      int           `json:"at" doc:"Index from 0: among the draft's messages if added, among the run's messages if removed."`
	Node    string        `json:"node"`
	Message view.Document `json:"message" doc:"The message in the form of a send request."`
}

type pathChange struct {
	Change string `json:"change" enum:"added,removed"`
	At     int    `json:"at"`
	Step   string `json:"step" doc:"The frames, node and output of the step." example:"each[2] greet.out"`
}

type replayedCall struct {
	Node   string        `json:"node"`
	Kind   flow.CallKind `json:"kind" enum:"http,assistant,agent,extract,tool,node"`
	Answer string        `json:"answer" enum:"other,missing" doc:"other: the call got the answer that the run received for another request of the node; missing: the run made no such call, and the call failed."`
}

// replayRuns plays runs of a bot or a flow against its draft.
func (a *Simulations) replayRuns(ctx context.Context, c httpapi.Call, of versions.Tests, engine, id string, in pastRuns) (replays, error) {
	doc, program, err := of.Program(ctx, id, 0)
	if err != nil {
		return replays{}, err
	}
	runs, err := a.replayed(ctx, c, engine, id, in)
	if err != nil {
		return replays{}, err
	}
	out, size := replays{Items: make([]replayView, len(runs))}, 0
	for i, run := range runs {
		v, err := a.replayRun(ctx, c, run, doc, program)
		if err != nil {
			return replays{}, err
		}
		if own := v.size(); size+own > maxReplayed {
			v = newReplay(v.RunID, v.Version)
			v.Problem = new("the differences are too large for one response: replay fewer runs")
		} else {
			size += own
		}
		out.Items[i] = v
	}
	return out, nil
}

// replayed are the runs that are chosen.
func (a *Simulations) replayed(ctx context.Context, c httpapi.Call, engine, owner string, in pastRuns) ([]string, error) {
	var out []string
	for i, id := range in.Runs {
		run, err := a.Runs.For(c.Account).Run(ctx, id)
		if errors.Is(err, runtime.ErrNotFound) || err == nil && (run.Engine != engine || run.Owner != owner || run.Function != "") {
			return nil, httpapi.NotFoundAt(fmt.Sprintf("body.runs[%d]", i), "must be the id of a run of this flow or bot")
		}
		if err != nil {
			return nil, err
		}
		out = append(out, run.ID)
	}
	filter := runtime.Filter{Engine: engine, Owner: owner, Limit: maxReplays}
	if len(in.Chats)+len(in.Runs) == 0 {
		filter.Limit = 20
		return a.listed(ctx, c, filter, out)
	}
	for i, chat := range in.Chats {
		known, err := a.Messaging.For(c.Account).Chat(ctx, chat.Reference, chat.ChatID)
		if errors.Is(err, messaging.ErrNotFound) {
			return nil, httpapi.NotFoundAt(fmt.Sprintf("body.chats[%d]", i), "must be the id of a chat of this account")
		}
		if err != nil {
			return nil, httpapi.Relocate(err, "body.", fmt.Sprintf("body.chats[%d].", i))
		}
		filter.Reference, filter.ChatID = int64(chat.Reference), known.ID
		if out, err = a.listed(ctx, c, filter, out); err != nil {
			return nil, err
		}
	}
	return out[:min(len(out), maxReplays)], nil
}

// listed adds the runs of a filter that are not there yet.
func (a *Simulations) listed(ctx context.Context, c httpapi.Call, f runtime.Filter, to []string) ([]string, error) {
	page, err := a.Runs.For(c.Account).Runs(ctx, f)
	for _, r := range page.Items {
		if !slices.Contains(to, r.ID) {
			to = append(to, r.ID)
		}
	}
	return to, err
}

// newReplay is one that says nothing yet.
func newReplay(id string, version int64) replayView {
	return replayView{
		RunID: id, Version: version, Variables: []valueChange{}, Messages: []messageChange{}, Path: []pathChange{}, Calls: []replayedCall{}, Untaken: []string{},
	}
}

// size is about how many bytes it takes.
func (v *replayView) size() (n int) {
	for _, m := range v.Messages {
		n += len(m.Message)
	}
	for _, x := range v.Variables {
		n += len(x.Before) + len(x.After)
	}
	if v.Output != nil {
		n += len(v.Output.Before) + len(v.Output.After)
	}
	for _, p := range v.Path {
		n += len(p.Step)
	}
	return n
}

// replayRun plays one run against the version that it ran, and the draft.
func (a *Simulations) replayRun(ctx context.Context, c httpapi.Call, id string, doc *flow.Document, program *flow.Program) (replayView, error) {
	runs := a.Runs.For(c.Account)
	was, err := runs.Past(ctx, id)
	if err != nil {
		return replayView{}, err
	}
	past, ids, err := a.past(ctx, c, was)
	if err != nil {
		return replayView{}, err
	}
	v := newReplay(id, was.Run.Version)
	before, err := simulate.Replay(was.Program, past)
	after := simulate.Replayed{}
	if err == nil {
		after, err = simulate.Replay(program, past)
	}
	if err != nil {
		p := httpapi.Refusal(err)
		if p == nil && !errors.Is(err, simulate.ErrLong) {
			return v, err
		}
		why := "it is too long"
		if p != nil {
			why = p.Detail
		}
		v.Problem = &why
		return v, nil
	}
	d, err := runs.Detail(ctx, id)
	if err != nil {
		return v, err
	}
	diff, err := simulate.Compare(was.Document, before, doc, after)
	if err != nil {
		return v, err
	}
	v.Reproduced = slices.Equal(before.Path(), pathOf(d))
	return v, v.fill(diff, after, ids)
}

// pathOf is the path that a run took.
func pathOf(d runtime.Detail) []string {
	rows := make([]flow.TraceRow, len(d.Steps))
	for i, step := range d.Steps {
		rows[i] = step.TraceRow
	}
	return simulate.PathOf(rows)
}

// past is a run as simulations take it, with the ids of what came that were
// messages.
func (a *Simulations) past(ctx context.Context, c httpapi.Call, was runtime.Past) (simulate.Past, []string, error) {
	p := simulate.Past{Run: flow.RunInfo{ID: was.Run.ID, StartedAt: was.Run.StartedAt}, Until: was.Run.EndedAt}
	if p.Until.IsZero() {
		p.Until = a.Now()
	}
	var input httpapi.ExactObject
	if err := input.UnmarshalJSON(was.Run.Input); err != nil {
		return p, nil, fmt.Errorf("reading the input of a run: %w", err)
	}
	p.Input = input
	for _, x := range was.Calls {
		p.Calls = append(p.Calls, simulate.Recorded{Node: x.Node, Kind: x.Kind, Request: x.Request, Result: x.Result, Error: x.Error})
	}
	if was.Run.Chat.Key != "" {
		view, err := a.Snapshot(ctx, was.Run.Chat)
		if err != nil {
			return p, nil, err
		}
		p.Contact, p.Chat = view.Contact, view.Chat
	}
	messages, err := a.messagesOf(ctx, c, was)
	if err != nil {
		return p, nil, err
	}
	var ids []string
	for _, x := range was.Came {
		in := x.Input
		if x.Message != "" {
			m, known := messages[x.Message]
			if !known {
				continue // it was deleted
			}
			in = flow.Reply{Message: m}
		}
		p.Came, ids = append(p.Came, simulate.Came{At: x.At, Input: in}), append(ids, x.Message)
	}
	return p, ids, nil
}

// messagesOf are the messages that came to a run, as flows see them.
func (a *Simulations) messagesOf(ctx context.Context, c httpapi.Call, was runtime.Past) (map[string]map[string]any, error) {
	var ids []string
	for _, x := range was.Came {
		if x.Message != "" {
			ids = append(ids, x.Message)
		}
	}
	out := map[string]map[string]any{}
	if len(ids) == 0 {
		return out, nil
	}
	found, err := a.Messaging.For(c.Account).Listed(ctx, provider.ReferenceID(was.Run.Chat.Reference), was.Run.Chat.ID, ids)
	if err != nil && !errors.Is(err, messaging.ErrNotFound) {
		return nil, err
	}
	for _, m := range found {
		out[m.ID] = a.Message(messaging.MessagePayload{Head: m.Head, Body: m.Body})
	}
	return out, nil
}

// fill says what is different.
func (v *replayView) fill(d simulate.Difference, after simulate.Replayed, ids []string) error {
	v.Same, v.Status = d.Same(), beforeAfter{d.Status[0], d.Status[1]}
	change := map[bool]string{false: "removed", true: "added"}
	for _, m := range d.Messages {
		v.Messages = append(v.Messages, messageChange{change[m.Added], m.At, m.Node, view.Document(m.Message)})
	}
	for _, p := range d.Path {
		v.Path = append(v.Path, pathChange{change[p.Added], p.At, p.Step})
	}
	for _, x := range d.Variables {
		view, err := viewChange(x)
		if err != nil {
			return err
		}
		v.Variables = append(v.Variables, view)
	}
	if d.Output != nil {
		view, err := viewChange(*d.Output)
		if err != nil {
			return err
		}
		v.Output = &view
	}
	for _, a := range after.Calls {
		if a.Answer != simulate.AnswerRecorded {
			v.Calls = append(v.Calls, replayedCall{a.Node, a.Kind, a.Answer})
		}
	}
	for _, i := range after.Untaken {
		if ids[i] != "" {
			v.Untaken = append(v.Untaken, ids[i])
		}
	}
	return nil
}

func viewChange(x simulate.ChangedValue) (valueChange, error) {
	before, err := json.Marshal(x.Before)
	if err != nil {
		return valueChange{}, fmt.Errorf("writing a value: %w", err)
	}
	after, err := json.Marshal(x.After)
	if err != nil {
		return valueChange{}, fmt.Errorf("writing a value: %w", err)
	}
	return valueChange{x.Name, before, after}, nil
}
