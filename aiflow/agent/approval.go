package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
)

// consentLife is how long consent holds: a call that was not begun by then is
// asked for again.
const consentLife = 10 * time.Minute

// The ways in which a node asks for consent.
const (
	approveAlways      = "always"
	approveDestructive = "destructive"
)

// needsConsent says whether a person must approve a call: the node says so, or
// it would carry out what somebody who wrote to the agent may be after. Whoever
// has private data, hears from strangers and reaches the world can be talked
// into giving the first to the last.
func (w *worker) needsConsent(t *tool) bool {
	switch w.limits.Approval {
	case approveAlways:
		return true
	case approveDestructive:
		if t.Destructive {
			return true
		}
	}
	return t.OpenWorld && !t.ReadOnly && w.knowsSecrets() && w.hearsStrangers()
}

func (w *worker) knowsSecrets() bool {
	return w.recallsSecrets() || slices.ContainsFunc(w.entries, func(e *entry) bool {
		return e.Kind == kindTool && e.asked.Private && e.Status == statusDone && !e.came.refusal()
	})
}

// recallsSecrets says whether something private was looked up in an earlier run
// and is remembered: by a tool that is private or not known any more. Of a
// summary nobody knows what it is from.
func (w *worker) recallsSecrets() bool {
	names := map[string]string{}
	for _, m := range w.begin[:w.earlier] {
		for _, c := range m.Calls {
			names[c.ID] = c.Name
		}
		for _, r := range m.Results {
			name := names[r.CallID]
			if t := w.tools[name]; !r.IsError && name != toolFinish && name != toolHandoff && (t == nil || t.Private) {
				return true
			}
		}
	}
	if w.session.Note == "" {
		return false
	}
	for _, t := range w.tools {
		if t.Private {
			return true
		}
	}
	return false
}

// hearsStrangers says whether something that the agent was told may be anybody's:
// the words of a contact, or the result of a tool.
func (w *worker) hearsStrangers() bool {
	return w.r.Run.Chat.ID != "" ||
		slices.ContainsFunc(w.entries, func(e *entry) bool { return e.Kind == kindTool && e.asked.Untrusted && e.Status == statusDone })
}

// askFor ends the leg with a call that waits for consent.
func (w *worker) askFor(e *entry) (*flow.ModelResult, error) {
	r := w.result(flow.FinishApproval, StopApproval)
	r.Tool = e.asked.Origin
	d := json.NewDecoder(bytes.NewReader(e.asked.Arguments))
	d.UseNumber()
	if err := d.Decode(&r.Arguments); err != nil {
		return nil, fmt.Errorf("reading the arguments of a call: %w", err)
	}
	return r, nil
}

// decide takes what a person decided of the call that was asked for. That may
// be written down already.
func (w *worker) decide(ctx context.Context, approved bool, at time.Time) error {
	i := slices.IndexFunc(w.entries, func(e *entry) bool { return e.Status == statusAsked && e.Leg != w.r.Key })
	if i < 0 {
		return nil
	}
	e := w.entries[i]
	e.Leg = w.r.Key
	if !approved {
		return w.finish(ctx, e, statusDenied, came(toolResult{Content: codeDenied + ": a person refused it.", IsError: true, Code: codeDenied}))
	}
	e.asked.DecidedAt = database.Micros(at)
	if err := e.rewrite(); err != nil {
		return err
	}
	e.Status = statusApproved
	if err := w.change(ctx, e, statusAsked, nil); err != nil {
		return err
	}
	w.s.opts.AfterCommit("approved")
	return nil
}

// rewrite writes the request of an entry anew.
func (e *entry) rewrite() error {
	raw, err := json.Marshal(e.asked)
	if err != nil {
		return fmt.Errorf("writing an entry of an agent: %w", err)
	}
	e.Request = string(raw)
	return nil
}

// consented begins a call that a person has approved, if it is still the one
// that he was shown, and he did so a short time ago.
func (w *worker) consented(ctx context.Context, e *entry) error {
	t := w.tools[e.asked.Name]
	if t == nil || t.hash != e.asked.Definition {
		return w.finish(ctx, e, statusDone, came(toolResult{
			Content: codeChanged + ": the tool is not what it was when a person approved the call. It was not made.", IsError: true, Code: codeChanged,
		}))
	}
	if w.s.opts.Now().Sub(database.Time(e.asked.DecidedAt)) <= consentLife {
		return w.start(ctx, e)
	}
	e.Leg, e.Status = w.r.Key, statusAsked
	if err := w.change(ctx, e, statusApproved, nil); err != nil {
		return err
	}
	w.s.opts.AfterCommit("asked")
	return nil
}

// denied says whether a person has refused a call on this leg.
func (w *worker) denied() bool {
	return slices.ContainsFunc(w.entries, func(e *entry) bool { return e.Status == statusDenied && e.Leg == w.r.Key })
}
