package server

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// openFlows makes what runs flows, and the engines that own them.
func (s *Server) openFlows(ctx context.Context) (err error) {
	c := s.cfg
	types := node.NewTypes()
	types.ReadAnswers(answerReader{})
	for _, own := range c.Nodes {
		if err := types.Register(own); err != nil {
			return fmt.Errorf("Config.Nodes: %w", err)
		}
	}
	opts := &runtime.Options{
		Types: types, Allow: c.WebhookAllow, Retention: c.MessageRetention, Exclusive: c.Exclusive,
		Observer: s.flowMetrics(), Trace: s.tracing.Hook(), Logger: c.Logger, Now: c.Now,
		Extractor: func(account string) flow.Extractor { return flowExtractor{s.Extractors.For(account)} },
	}
	opts.Authorize, opts.Repeatable, opts.Admit = s.authorize, s.repeatable, s.admitRun
	opts.Callers = map[flow.CallKind]runtime.Caller{flow.CallTool: s.callTool, flow.CallAgent: s.Agents.Act, flow.CallAssistant: s.Assistant.Answer, flow.CallExtract: s.Assistant.Extract}
	if c.flows != nil {
		c.flows(opts)
	}
	if s.Runs, err = runtime.New(ctx, c.DB, flowHost{s, newRepeats()}, opts); err != nil {
		return err
	}
	s.Bots, err = botengine.New(ctx, c.DB, s.Runs, &botengine.Options{Deleted: s.botDeleted, Admit: s.admitVersion, Logger: c.Logger, Now: c.Now})
	if err != nil {
		return err
	}
	s.Flows, err = aiflow.New(ctx, c.DB, &aiflow.Options{
		Runs: s.Runs, Environment: s.environment, Deleted: s.flowDeleted, Admit: s.admitVersion, Logger: c.Logger, Now: c.Now,
	})
	return err
}

// bots is the service of bots for the caller.
func (s *Server) bots(c httpapi.Call) *botengine.Account { return s.Bots.For(c.Account) }

// botSwitch lets agents switch bots.
type botSwitch struct{ s *Server }

// SwitchBot lets a bot answer on its line, or not.
func (b botSwitch) SwitchBot(ctx context.Context, account string, ref provider.ReferenceID, botID string, active bool) (bool, error) {
	return b.s.Bots.For(account).Bots().Switch(ctx, int64(ref), botID, active)
}
