package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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

// consent decides which calls wait for a person, and what the person's decision
// means.
type consent struct {
	approval string // when the node asks
	journal  *journal
	secrets  *disclosure
	tools    *toolbox
}

// needed reports whether a person must approve a call: the node asks for it, or
// the call could leak private data. A stranger can talk an agent that has private
// data and reaches the outside world into sending the data there. A call that
// only looks something up reaches the outside world as well, by what it looks
// up.
func (c *consent) needed(t *tool) bool {
	switch c.approval {
	case approveAlways:
		return true
	case approveDestructive:
		if t.Destructive {
			return true
		}
	}
	return (t.OpenWorld || t.Leaves) && c.secrets.leak(t.Home) || t.Says && c.secrets.ofOthers()
}

// decide stores what a person decided about the call that waits for consent.
// asked is the entry of that call; 0: it is not known. The decision may be stored
// already.
func (c *consent) decide(ctx context.Context, asked int64, approved bool, at time.Time) error {
	i := slices.IndexFunc(c.journal.entries, func(e *entry) bool {
		return e.Status == statusAsked && e.Leg != c.journal.leg && (asked == 0 || asked == e.Seq)
	})
	if i < 0 {
		return nil
	}
	e := c.journal.entries[i]
	e.Leg = c.journal.leg
	if !approved {
		return c.journal.finish(ctx, e, statusDenied, came(toolResult{Content: codeDenied + ": a person refused it.", IsError: true, Code: codeDenied}))
	}
	e.asked.DecidedAt = database.Micros(at)
	if err := e.rewrite(); err != nil {
		return err
	}
	e.Status = statusApproved
	if err := c.journal.change(ctx, e, statusAsked, nil); err != nil {
		return err
	}
	c.journal.afterCommit("approved")
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

// start starts a call that a person has approved, if it is still the call that
// the person was shown, and the approval is recent.
func (c *consent) start(ctx context.Context, e *entry) error {
	t := c.tools.byName[e.asked.Name]
	if t == nil || t.hash != e.asked.Definition {
		return c.journal.finish(ctx, e, statusDone, came(toolResult{
			Content: codeChanged + ": the tool has changed since a person approved the call. It was not called.", IsError: true, Code: codeChanged,
		}))
	}
	if c.fresh(e) {
		return c.journal.start(ctx, e)
	}
	return c.askAgain(ctx, e)
}

// fresh says whether a call was approved a short time ago.
func (c *consent) fresh(e *entry) bool {
	return c.journal.now().Sub(database.Time(e.asked.DecidedAt)) <= consentTTL
}

// askAgain asks once more for a call that was approved.
func (c *consent) askAgain(ctx context.Context, e *entry) error {
	e.Leg, e.Status = c.journal.leg, statusAsked
	if err := c.journal.change(ctx, e, statusApproved, nil); err != nil {
		return err
	}
	c.journal.afterCommit("asked")
	return nil
}
