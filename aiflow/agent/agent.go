package agent

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Options configures a [Service].
type Options struct {
	// Memory keeps what was said in earlier turns. nil: nothing is remembered.
	Memory *memory.Service
	// Tools are those that a flow's agent may use, of all that it names. What
	// it does not name must not be among them. nil: there are none.
	Tools func(ctx context.Context, scope Scope, r *flow.AgentRequest) ([]llm.Tool, error)
	// Project is the project of a flow, for budgets. nil: there are none.
	Project func(ctx context.Context, account, flow string) (string, error)
	// Links are the hosts, with those below them, to which texts for contacts
	// may link although a tool may have brought the address. An author allows
	// more by naming an address of them in the instructions.
	Links  []string
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now

	// AfterCommit is called after each commit of the journal, with what was
	// committed ("session", "begun", "done", "asked"). Tests stop a node there.
	// nil: nothing is called.
	AfterCommit func(what string)
}

// Scope is for whom tools are.
type Scope struct {
	Run  runtime.Run
	Node string // id of the agent's node
}

// Service answers the calls of agent nodes. It is safe for concurrent use.
type Service struct {
	db     *database.DB
	models *llm.Models
	ledger *usage.Ledger
	opts   Options
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package, and of runs: what
// belongs to a run goes when the run does. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	if err := runtime.Migrate(ctx, db); err != nil {
		return err
	}
	return database.Migrate(ctx, db, "agent", migrations)
}

// New returns a Service over db, and creates or upgrades its tables. Agents are
// these models, and what they take is written into ledger.
func New(ctx context.Context, db *sqlx.DB, models *llm.Models, ledger *usage.Ledger, opts *Options) (*Service, error) {
	if models == nil || ledger == nil {
		return nil, errors.New("agent: models and a ledger are required")
	}
	s := &Service{models: models, ledger: ledger}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.AfterCommit == nil {
		s.opts.AfterCommit = func(string) {}
	}
	var err error
	if s.db, err = database.Prepare(ctx, db, "agent", Migrate); err != nil {
		return nil, err
	}
	return s, nil
}

// Act is the [runtime.Caller] of calls of the kind [flow.CallAgent]. It may be
// called again with the same key: what it has done it does not do again.
func (s *Service) Act(ctx context.Context, r runtime.Request) (any, error) {
	req, is := r.Call.Request.(flow.ModelRequest)
	if !is || req.Agent == nil {
		return nil, fmt.Errorf("agent: a call of the kind %s asks nothing of an agent", r.Call.Kind)
	}
	w, err := s.open(ctx, r, req)
	if err == nil {
		err = w.prepare(ctx)
	}
	if err != nil {
		return nil, flowError(err)
	}
	out, err := w.work(ctx)
	if err != nil {
		return nil, flowError(err)
	}
	return *out, nil
}

// flowError is an error in the words of flows.
func flowError(err error) error {
	var (
		known *flow.Error
		model *llm.Error
		over  *usage.Exceeded
	)
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &over):
		return &flow.Error{Code: codeBudget, Message: over.Error(), Detail: detail(StopBudget)}
	case errors.As(err, &model):
		return &flow.Error{Code: string(model.Code), Message: model.Message, Detail: detail(StopModelError)}
	}
	return err
}

// codeBudget is the code of errors of nodes for which a budget has no room.
const codeBudget = "budget.exceeded"

func detail(s Stop) map[string]any { return map[string]any{"stopReason": string(s)} }
