package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
)

const (
	// maxEntries is how many entries of a run are shown: the newest.
	maxEntries = 200
	// maxText is how many bytes of each of their texts are.
	maxText = 2 << 10
)

// Entry is something that an agent did, for people who look at a run.
type Entry struct {
	Session string // names the visit to the node
	Seq     int64  // counts through the session, from 1
	Node    string
	Kind    string // "turn": an answer of the model; "tool": a call; "told": an instruction to it
	// Status is "done", "failed" or "unknown" (it is not known whether it
	// happened), or what it waits for: "asked" for consent, "approved" to be
	// made, "started" to end. A refused call is "denied".
	Status    string
	Text      string          // of an answer, or what was said; at most 2 KiB, from its beginning and its end, as Result
	Calls     []string        // the tools that an answer wants called
	Tool      string          // as flows name it
	Arguments json.RawMessage // nil: there are none, or more than 2 KiB in a call that does not wait for consent
	Result    string          // of a call
	Size      int             // of the whole result, in bytes
	IsError   bool            // the call failed, or was not made
	Model     string          // that answered, or was asked: provider/model
	Usage     llm.Usage
	Cost      *int64 // nano-USD; nil: not known
	Stop      string // why the model stopped; of the last answer of an agent at a bound, which one that is
	Error     string // code of the error of an attempt that failed
	StartedAt time.Time
	DoneAt    time.Time // zero: it is not done
}

// Account is the share of a [Service] that belongs to one account.
type Account struct {
	s  *Service
	id string
}

// For returns the service for one account.
func (s *Service) For(account string) *Account { return &Account{s: s, id: account} }

type entryRow struct {
	entry
	Node string
}

// Entries are the newest 200 entries of a run in the order in which they came
// about, of one node or, if node is "", of all.
func (a *Account) Entries(ctx context.Context, run, node string) ([]Entry, error) {
	var rows []*entryRow
	err := a.s.db.SelectContext(ctx, &rows, `SELECT e.session, e.seq, e.leg, e.kind, e.status, e.child, e.request, e.result, e.started_us, e.done_us, s.node
		FROM agent_entry e JOIN agent_session s ON s.id = e.session WHERE s.run = $1 AND s.account = $2 AND (s.node = $3 OR $3 = '')
		ORDER BY s.created_us DESC, s.id DESC, e.seq DESC LIMIT $4`, text.Sanitize(run), a.id, text.Sanitize(node), maxEntries)
	if err != nil {
		return nil, fmt.Errorf("reading what agents did: %w", err)
	}
	slices.Reverse(rows)
	out := make([]Entry, len(rows))
	for i, r := range rows {
		if err := r.read(); err != nil {
			return nil, err
		}
		out[i] = r.view()
	}
	return out, nil
}

func (r *entryRow) view() Entry {
	v := Entry{
		Session: r.Session, Seq: r.Seq, Node: r.Node, Kind: r.Kind, Status: r.Status,
		StartedAt: database.Time(r.StartedUS), DoneAt: database.Time(r.DoneUS),
	}
	switch r.Kind {
	case kindInput:
		v.Text = truncate(r.said.Text, maxText)
	case kindTool:
		v.Tool, v.Result, v.Size, v.IsError = r.asked.Origin, truncate(r.came.Content, maxText), len(r.came.Content), r.came.IsError
		if len(r.asked.Arguments) <= maxText || r.Status == statusAsked { // who decides sees all of them
			v.Arguments = r.asked.Arguments
		}
	case kindTurn:
		r.turn(&v)
	}
	return v
}

// turn shows an answer of the model.
func (r *entryRow) turn(v *Entry) {
	v.Model, v.Stop = r.wanted.Model, string(r.wanted.Last)
	a := r.answer
	if a == nil {
		return
	}
	v.Text, v.Usage, v.Cost, v.Error = truncate(a.Message.Text(), maxText), a.Usage, a.Cost, string(a.Error)
	for _, c := range a.Message.Calls {
		v.Calls = append(v.Calls, c.Name)
	}
	if a.Model != "" {
		v.Model = a.Provider + "/" + a.Model
	}
	v.Stop = cmp.Or(v.Stop, string(a.Stop))
}
