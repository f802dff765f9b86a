package agent

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/structured"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
)

// maxDepth is how deep agents may be nested: one may call a function
// that has an agent, which may call no such function.
const maxDepth = 2

// sessionRow is the work of an agent at one visit to its node.
type sessionRow struct {
	ID        string
	Run       string
	Node      string
	Depth     int
	Note      string
	Messages  string
	CreatedUS int64 `db:"created_us"`
}

// session is what an agent works on during one visit to its node.
type session struct {
	sessionRow
	begin   []llm.Message // what was said before, and what is to be answered
	earlier int           // how many of these were said before
}

// earlierTools returns the names of the tools whose results are remembered from
// earlier runs.
func (s *session) earlierTools() (out []string) {
	names := map[string]string{}
	for _, m := range s.begin[:s.earlier] {
		for _, c := range m.Calls {
			names[c.ID] = c.Name
		}
		for _, r := range m.Results {
			if name := names[r.CallID]; r.Content != notMade && name != toolFinish && name != toolHandoff {
				out = append(out, name)
			}
		}
	}
	return out
}

// worker does the work of one call: a leg of a session.
type worker struct {
	s      *Service
	r      runtime.Request
	req    flow.ModelRequest
	limits *flow.AgentRequest

	session session
	asked   int64 // the entry that waits for consent; 0: it is not known
	journal *journal
	tools   *toolbox
	secrets *disclosure
	consent *consent
	outward *outward

	model   llm.Model
	name    string // that the provider calls the model
	metered usage.Call
	schema  *structured.Schema // nil: a text is wanted
}

// opening is what a session begins with, as its row has it.
type opening struct {
	Earlier []llm.Message `json:"earlier,omitempty"`
	Asked   llm.Message   `json:"asked"`
}

// open finds the session of a call, or begins one.
func (s *Service) open(ctx context.Context, r runtime.Request, req flow.ModelRequest) (*worker, error) {
	w := s.newWorker(r, req)
	id := r.Key
	if kept, is := req.Agent.Resume.(string); is {
		id, w.asked = resumed(kept)
	}
	err := s.db.GetContext(ctx, &w.session.sessionRow, `SELECT id, run, node, depth, note, messages, created_us FROM agent_session WHERE id = $1`, id)
	switch {
	case errors.Is(err, sql.ErrNoRows) && id == r.Key:
		if err = w.found(ctx); err != nil {
			return nil, err
		}
	case errors.Is(err, sql.ErrNoRows):
		return nil, &flow.Error{Code: "internal", Message: "The agent's earlier actions are no longer stored."}
	case err != nil:
		return nil, fmt.Errorf("reading the session of an agent: %w", err)
	}
	if w.session.Run != r.Run.ID || w.session.Node != r.Call.Node {
		return nil, &flow.Error{Code: "internal", Message: "The agent's stored actions belong to another node."}
	}
	var o opening
	if err := json.Unmarshal([]byte(w.session.Messages), &o); err != nil {
		return nil, fmt.Errorf("reading the session of an agent: %w", err)
	}
	w.session.begin, w.session.earlier = append(o.Earlier, o.Asked), len(o.Earlier)
	w.journal.session = w.session.ID
	return w, w.journal.load(ctx)
}

// newWorker returns a worker whose session is not known yet.
func (s *Service) newWorker(r runtime.Request, req flow.ModelRequest) *worker {
	w := &worker{s: s, r: r, req: req, limits: req.Agent}
	w.journal = &journal{db: s.db, now: s.opts.Now, afterCommit: s.opts.AfterCommit, run: r.Run.ID, leg: r.Key}
	w.tools = &toolbox{byName: map[string]*tool{}, timeout: w.limits.ToolTimeout, run: r.Run.ID, log: s.opts.Logger}
	w.secrets = &disclosure{secret: req.Secret, filled: req.Filled, chat: r.Run.Chat.ID, session: &w.session, journal: w.journal, tools: w.tools}
	w.consent = &consent{approval: w.limits.Approval, journal: w.journal, secrets: w.secrets, tools: w.tools}
	w.outward = &outward{filled: req.Filled, session: &w.session, journal: w.journal}
	return w
}

// found begins a session.
func (w *worker) found(ctx context.Context) error {
	depth, err := w.depth(ctx)
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return &flow.Error{Code: "agent.depth", Message: "A function that an agent called cannot call another function that has an agent."}
	}
	history, err := w.recall(ctx)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(opening{Earlier: history.Messages, Asked: llm.User(said(w.req.Input))})
	if err != nil {
		return fmt.Errorf("writing the session of an agent: %w", err)
	}
	w.session.sessionRow = sessionRow{
		ID: w.r.Key, Run: w.r.Run.ID, Node: w.r.Call.Node, Depth: depth, Note: history.Note(), Messages: string(raw),
		CreatedUS: database.Micros(w.s.opts.Now()),
	}
	err = w.s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(context.WithoutCancel(ctx), `INSERT INTO agent_session (id, account, run, node, depth, note, messages, created_us)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			w.session.ID, w.r.Run.Chat.Account, w.session.Run, w.session.Node, w.session.Depth, text.Sanitize(w.session.Note), w.session.Messages, w.session.CreatedUS)
		return err
	})
	if err != nil {
		return fmt.Errorf("beginning the session of an agent: %w", err)
	}
	w.s.opts.AfterCommit("session")
	return nil
}

// said is what a model is asked, which must be something.
func said(input string) string {
	if strings.TrimSpace(input) == "" {
		return "(a message without text)"
	}
	return input
}

// depth is how many agents are nested down to this one: a run that an
// agent began is known by the entry that began it.
func (w *worker) depth(ctx context.Context) (int, error) {
	var around []int
	err := w.s.db.SelectContext(ctx, &around, `SELECT s.depth FROM agent_entry e JOIN agent_session s ON s.id = e.session WHERE e.child = $1`, w.r.Run.ID)
	if err != nil {
		return 0, fmt.Errorf("reading what an agent stands in: %w", err)
	}
	if len(around) == 0 {
		return 1, nil
	}
	return slices.Max(around) + 1, nil
}

// place is where the conversation is remembered.
func (w *worker) place() memory.Place {
	c := w.r.Run.Chat
	return memory.Place{
		Scope: memory.Scope(w.req.Memory.Scope), Run: w.r.Run.ID, Message: w.req.Message, Chat: memory.Chat{Reference: c.Reference, ID: c.ID},
	}
}

// recall is what was said before the session.
func (w *worker) recall(ctx context.Context) (memory.History, error) {
	if w.s.opts.Memory == nil {
		return memory.History{}, nil
	}
	q := memory.Question{Place: w.place(), Key: w.r.Key, Messages: w.req.Memory.Messages, Tokens: w.req.Memory.Tokens}
	if w.req.Memory.Summary {
		if err := w.findModel(ctx); err != nil {
			return memory.History{}, err
		}
		q.Sum = memory.Summary(w.s.ledger.Metered(w.model, w.metered), w.name)
	}
	h, err := w.s.opts.Memory.For(w.r.Run.Chat.Account).Recall(ctx, q)
	if err != nil {
		return h, fmt.Errorf("recalling what was said to an agent: %w", err)
	}
	return h, nil
}

// remember keeps what was said in the session. What cannot be kept is
// forgotten: the answer is worth more.
func (w *worker) remember(ctx context.Context, more ...llm.Message) {
	if w.s.opts.Memory == nil {
		return
	}
	messages := append(w.conversation()[w.session.earlier:], more...)
	err := w.s.opts.Memory.For(w.r.Run.Chat.Account).Remember(context.WithoutCancel(ctx), w.place(), w.session.ID, messages)
	if err != nil {
		w.s.opts.Logger.WarnContext(ctx, "what was said to an agent is not remembered", "run", w.r.Run.ID, "error", err)
	}
}

// findModel finds who the agent is, and on whose account it is written down.
func (w *worker) findModel(ctx context.Context) error {
	if w.model != nil {
		return nil
	}
	model, name, err := w.s.models.Find(w.req.Model)
	if err != nil {
		return err
	}
	provider, _, _ := strings.Cut(w.req.Model, "/")
	run := w.r.Run
	w.metered = usage.Call{
		Account: run.Chat.Account, Reference: run.Chat.Reference, ChatID: run.Chat.ID, Feature: "agent", Flow: run.Owner, Run: run.ID,
		Provider: provider, Model: name,
	}
	if w.s.opts.Project != nil {
		if w.metered.Project, err = w.s.opts.Project(ctx, run.Chat.Account, run.Owner); err != nil {
			return fmt.Errorf("finding the project of a flow: %w", err)
		}
	}
	w.model, w.name = model, name
	return nil
}

// prepare finds the model and the tools, and takes up what this leg brings.
func (w *worker) prepare(ctx context.Context) (err error) {
	if err := w.findModel(ctx); err != nil {
		return err
	}
	if w.req.JSON {
		if w.schema, err = structured.Compile(w.req.Schema); err != nil {
			return &flow.Error{Code: "output.schema", Message: err.Error()}
		}
	}
	if err := w.findTools(ctx); err != nil {
		return err
	}
	if err := w.takeUp(ctx); err != nil {
		return err
	}
	w.outward.rule = w.linkRule()
	return nil
}

// takeUp settles what an earlier process left, and writes down what this leg
// brings: a reply, or what a person decided.
func (w *worker) takeUp(ctx context.Context) error {
	for _, e := range w.journal.entries {
		if err := w.completeLeft(ctx, e); err != nil {
			return err
		}
	}
	if w.limits.Resume == nil {
		return nil
	}
	if w.limits.Approved != nil {
		return w.consent.decide(ctx, w.asked, *w.limits.Approved, w.limits.ApprovedAt)
	}
	if !slices.ContainsFunc(w.journal.entries, func(e *entry) bool { return e.Leg == w.r.Key }) { // it is not written down
		if err := w.journal.instruct(ctx, instruction{Text: said(w.req.Input)}); err != nil {
			return err
		}
	}
	return nil
}

// completeLeft says of what was begun and not done that its end is not known,
// unless it may be done again.
func (w *worker) completeLeft(ctx context.Context, e *entry) error {
	if e.Status != statusStarted {
		return nil
	}
	if e.Kind != kindTool {
		return w.journal.finish(ctx, e, statusUnknown, nil)
	}
	if w.tools.byName[e.asked.Name] != nil && e.asked.Repeatable {
		return nil // it is made once more
	}
	return w.journal.finish(ctx, e, statusUnknown, came(toolResult{
		Content: "effect.unknown: the call was started and its outcome is unknown. It is not repeated.", IsError: true, Code: flow.CodeUnknown,
	}))
}
