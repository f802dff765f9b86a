package explain

import (
	"context"
	"errors"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// explainedAsked is a bot or a flow that was asked whether it answers.
type explainedAsked struct {
	Engine   string `json:"engine"`
	ID       string `json:"id"`
	Name     string `json:"name" doc:"Empty if it no longer answers on the reference."`
	Version  int64  `json:"version"`
	Priority int    `json:"priority"`
	Outcome  string `json:"outcome" doc:"answers: it took the message; behind: its trigger matched, but another one was asked first; passes: its trigger did not match; cooling: its cooldown in this chat has not passed; busy: it has an active run in this chat."`
}

// routed adds why a message was answered by a bot or a flow, and what that
// sent, or which run wrote the message.
func (a *API) routed(ctx context.Context, c httpapi.Call, ref provider.ReferenceID, m messaging.Message, ids []string) ([]explained, error) {
	runs := a.Runs.For(c.Account)
	if m.Direction == "out" {
		r, err := runs.SentBy(ctx, int64(ref), ids)
		if errors.Is(err, runtime.ErrNotFound) {
			return nil, nil
		}
		step := ranStep(r)
		step.At = messaging.UnixTime{Time: r.StartedAt}
		return []explained{step}, err
	}
	routes, err := runs.Routes(ctx, int64(ref), ids)
	if err != nil || len(routes) == 0 {
		return nil, err
	}
	names, err := a.listenerNames(ctx, c, ref)
	if err != nil {
		return nil, err
	}
	var out []explained
	for _, r := range routes {
		steps, err := a.routeSteps(ctx, c, ref, m.ChatID, r, names)
		if err != nil {
			return nil, err
		}
		out = append(out, steps...)
	}
	return out, nil
}

func (a *API) listenerNames(ctx context.Context, c httpapi.Call, ref provider.ReferenceID) (map[string]string, error) {
	ls, err := a.Runs.For(c.Account).Listeners(ctx, int64(ref))
	names := map[string]string{}
	for _, l := range ls {
		names[l.Owner] = l.Name
	}
	return names, err
}

// routeSteps are those of one route: that it was routed, the run, and what the
// run sent.
func (a *API) routeSteps(ctx context.Context, c httpapi.Call, ref provider.ReferenceID, chatID string, r runtime.Route, names map[string]string) ([]explained, error) {
	step := explained{At: messaging.UnixTime{Time: r.At}, Step: "routed", Outcome: r.Outcome, RunID: r.Run}
	for _, asked := range r.Asked {
		step.Asked = append(step.Asked, explainedAsked{asked.Engine, asked.Owner, names[asked.Owner], asked.Version, asked.Priority, asked.Outcome})
	}
	out := []explained{step}
	if r.Run == "" {
		return out, nil
	}
	run, err := a.Runs.For(c.Account).Run(ctx, r.Run)
	if errors.Is(err, runtime.ErrNotFound) {
		return out, nil // it was deleted since
	}
	if err != nil {
		return nil, err
	}
	ran := ranStep(run)
	ran.At = step.At
	out = append(out, ran)
	if len(r.Sent) == 0 {
		return out, nil
	}
	sent, err := a.Messaging.For(c.Account).Listed(ctx, ref, chatID, r.Sent)
	if err != nil && !errors.Is(err, messaging.ErrNotFound) {
		return nil, err
	}
	for _, m := range sent {
		// Messages know their time in seconds.
		at := step.At
		if m.MessageTimestamp.After(at.Time) {
			at = m.MessageTimestamp
		}
		out = append(out, explained{At: at, Step: "sent", MessageID: m.ID, Status: m.Status, Error: m.Error})
	}
	return out, nil
}

// ranStep is how a run stands.
func ranStep(r runtime.Run) explained {
	step := explained{Step: "run", RunID: r.ID, Engine: r.Engine, FlowID: r.Owner, Version: r.Version, Status: string(r.Status)}
	if r.Error != nil {
		step.Error = &messaging.Failure{Code: r.Error.Code, Message: r.Error.Message}
	}
	return step
}
