package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
)

// maxAsked is how many bytes of arguments a person is asked to approve: all of
// them are shown.
const maxAsked = 16 << 10

// consentTTL is how long consent holds: a call that was not begun by then is
// asked for again.
const consentTTL = 10 * time.Minute

// The ways in which a node asks for consent.
const (
	approveNever       = "never"
	approveAlways      = "always"
	approveDestructive = "destructive"
)

// needsConsent says whether a person must approve a call: the node says so, or
// it would carry out what a stranger who wrote to the agent may be after. An agent that
// has private data, hears from strangers and reaches the world can be talked
// into giving the first to the last. A call that only looks something up there
// reaches the world, too: by what it looks up.
func (w *worker) needsConsent(t *tool) bool {
	switch w.limits.Approval {
	case approveAlways:
		return true
	case approveDestructive:
		if t.Destructive {
			return true
		}
	}
	return (t.OpenWorld || t.Leaves) && w.tellsSecrets(t.Home) || t.Says && w.tellsOfOthers()
}

// askFor ends the leg with a call that waits for consent.
func (w *worker) askFor(e *entry) (*flow.ModelResult, error) {
	r := w.result(flow.FinishApproval, StopApproval)
	r.Tool, r.Resume = e.asked.Origin, resume(e)
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
	i := slices.IndexFunc(w.entries, func(e *entry) bool {
		return e.Status == statusAsked && e.Leg != w.r.Key && (w.asked == 0 || w.asked == e.Seq)
	})
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

// resume is with what the run continues when the call of an entry was decided: the
// decision is about this one.
func resume(e *entry) string { return fmt.Sprintf("%s#%d", e.Session, e.Seq) }

func resumed(kept string) (session string, asked int64) {
	session, seq, named := strings.Cut(kept, "#")
	if named {
		asked, _ = strconv.ParseInt(seq, 10, 64)
	}
	return session, asked
}

// rewrite writes the request of an entry again.
func (e *entry) rewrite() error {
	raw, err := json.Marshal(e.asked)
	if err != nil {
		return fmt.Errorf("writing an entry of an agent: %w", err)
	}
	e.Request = string(raw)
	return nil
}

// consented begins a call that a person has approved, if it is still the one
// that they were shown, and they did so a short time ago.
func (w *worker) consented(ctx context.Context, e *entry) error {
	t := w.tools[e.asked.Name]
	if t == nil || t.hash != e.asked.Definition {
		return w.finish(ctx, e, statusDone, came(toolResult{
			Content: codeChanged + ": the tool is not what it was when a person approved the call. It was not made.", IsError: true, Code: codeChanged,
		}))
	}
	if w.fresh(e) {
		return w.start(ctx, e)
	}
	return w.askAgain(ctx, e)
}

// fresh says whether a call was approved a short time ago.
func (w *worker) fresh(e *entry) bool {
	return w.s.opts.Now().Sub(database.Time(e.asked.DecidedAt)) <= consentTTL
}

// askAgain asks once more for a call that was approved.
func (w *worker) askAgain(ctx context.Context, e *entry) error {
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
