// Package functions provides the twelve functions of a chat service for package
// mcp: they read and write chats, switch bots and manage references. Each calls the
// method of [messaging.Account] of the same name, for the caller's account. That
// method alone checks the 24-hour window, the type, the rates and the ownership.
//
//	registry, err := mcp.New(ctx, db, nil)
//	err = functions.Register(registry, service, nil)
//
// The texts are written for a model that chooses among functions: when to use one,
// what it returns, in which unit.
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

// Options are the optional dependencies of the functions.
type Options struct {
	// Flows run flows. nil: run_flow answers `unavailable`.
	Flows FlowRunner
	// Bots switch bots. nil: set_bot_active answers `unavailable`.
	Bots BotSwitch
}

// FlowRunner runs flows of an account. The caller sees errors that are an
// [mcp.Error] or an error of package messaging.
type FlowRunner interface {
	// RunFlow starts a run and returns its state after the first turn.
	RunFlow(ctx context.Context, account string, run FlowRun) (FlowResult, error)
}

// FlowRun is a run to start.
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
	// SwitchBot switches a bot on or off for its reference and returns its previous
	// state.
	SwitchBot(ctx context.Context, account string, ref provider.ReferenceID, botID string, active bool) (before bool, err error)
}

// The permissions of functions, as in package server/auth.
const (
	referencesRead = "references.read"
	chatsRead      = "chats.read"
	chatsSend      = "chats.send"
	botsManage     = "bots.manage"
	flowsManage    = "flows.manage"
)

// service holds the dependencies of the functions.
type service struct {
	messaging *messaging.Service
	flows     FlowRunner
	bots      BotSwitch
}

// Version is the version of the catalogue of the twelve functions: patch for
// changed texts, minor for additions, major for other changes.
const Version = "1.1.1"

// Register adds the twelve functions to a registry, before any others.
func Register(r *mcp.Registry, m *messaging.Service, opts *Options) error {
	s := &service{messaging: m}
	if opts != nil {
		s.flows, s.bots = opts.Flows, opts.Bots
	}
	if err := errors.Join(s.chats(r), s.messages(r), s.refs(r), s.engines(r)); err != nil {
		return err
	}
	r.Release(Version)
	return nil
}

// account returns the part of messaging that belongs to the caller.
func (s *service) account(c mcp.Call) *messaging.Account { return s.messaging.For(c.Account) }

// add registers a function that translates errors of messaging. names maps the
// fields of messaging to arguments with other names.
func add[In, Out any](r *mcp.Registry, f mcp.Function[In, Out], names map[string]string) error {
	handler, plan := f.Handler, f.Plan
	f.Handler = func(ctx context.Context, c mcp.Call, in In) (Out, error) {
		out, err := handler(ctx, c, in)
		return out, functionError(err, names)
	}
	f.Plan = func(ctx context.Context, c mcp.Call, in In) (any, error) {
		if plan == nil { // it only reads: a dry run makes the same checks
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
