// Package functions holds the twelve functions of a chat service for package
// mcp: reading and writing chats, switching bots, looking after references. Each
// does what the same method of [messaging.Account] does, for the account of
// the caller, and refuses what it refuses: the window, the type, the rates
// and what belongs to others are checked there and nowhere else.
//
//	registry, err := mcp.New(ctx, db, nil)
//	err = functions.Register(registry, service, nil)
//
// Texts are written for a model that chooses among functions: when to use one,
// what comes back, in which unit.
package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// Options are what functions need beside messaging.
type Options struct {
	// Flows run flows. nil: run_flow answers `unavailable`.
	Flows FlowRunner
	// Bots switch bots. nil: set_bot_active answers `unavailable`.
	Bots BotSwitch
}

// FlowRunner runs flows of an account. An error that is an [mcp.Error], or one
// of package messaging's, is told to the caller.
type FlowRunner interface {
	// RunFlow begins a run and returns its state after the first turn.
	RunFlow(ctx context.Context, account string, run FlowRun) (FlowResult, error)
}

// FlowRun is a run to be begun.
type FlowRun struct {
	FlowID    string
	Reference provider.ReferenceID // 0: the only reference of the flow, or of the chat
	ChatID    string               // "": the flow sends nothing
	Input     map[string]json.RawMessage
}

// FlowResult is the state of a run.
type FlowResult struct {
	RunID  string
	Status string                     // running, waiting, completed, failed or cancelled
	Output map[string]json.RawMessage // nil: none yet
}

// BotSwitch switches bots of an account. Its errors are like those of
// [FlowRunner].
type BotSwitch interface {
	// SwitchBot lets a bot answer on its reference, or not, and returns what was
	// before.
	SwitchBot(ctx context.Context, account string, ref provider.ReferenceID, botID string, active bool) (before bool, err error)
}

// The permissions of functions, as package server/auth knows them.
const (
	referencesRead = "references.read"
	chatsRead      = "chats.read"
	chatsSend      = "chats.send"
	botsManage     = "bots.manage"
	flowsManage    = "flows.manage"
)

// service is what the functions work on.
type service struct {
	messaging *messaging.Service
	flows     FlowRunner
	bots      BotSwitch
}

// Version is that of the catalogue of the twelve: patch for texts, minor for
// what was added, major for anything else.
const Version = "1.1.0"

// Register adds the twelve functions to a registry, before any others.
func Register(r *mcp.Registry, m *messaging.Service, opts *Options) error {
	s := &service{messaging: m}
	if opts != nil {
		s.flows, s.bots = opts.Flows, opts.Bots
	}
	if err := errors.Join(s.chats(r), s.messages(r), s.lines(r), s.engines(r)); err != nil {
		return err
	}
	r.Release(Version)
	return nil
}

// account is the share of messaging that belongs to the caller.
func (s *service) account(c mcp.Call) *messaging.Account { return s.messaging.For(c.Account) }

// add registers a function whose errors are told as messaging means them;
// names says what arguments are called that messaging calls otherwise.
func add[In, Out any](r *mcp.Registry, f mcp.Function[In, Out], names map[string]string) error {
	handler, plan := f.Handler, f.Plan
	f.Handler = func(ctx context.Context, c mcp.Call, in In) (Out, error) {
		out, err := handler(ctx, c, in)
		return out, functionError(err, names)
	}
	f.Plan = func(ctx context.Context, c mcp.Call, in In) (any, error) {
		if plan == nil { // it only reads: what it would refuse shows when it is done
			_, err := handler(ctx, c, in)
			return map[string]bool{"allowed": true}, functionError(err, names)
		}
		out, err := plan(ctx, c, in)
		return out, functionError(err, names)
	}
	if err := mcp.Register(r, f); err != nil {
		return fmt.Errorf("functions: %w", err)
	}
	return nil
}
