package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/api/jobs"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/server/job"
)

// closedTopic is woken when an account was closed.
const closedTopic = "server.closed"

const (
	eraseEvery = 5 * time.Second // the net under the wake-ups
	eraseLease = 9 * time.Second // after which another node continues with what a killed one began
	// eraseAgain is after how long an account is looked over once more, before
	// it is forgotten: requests and callbacks that were under way when it was
	// closed are over by then.
	eraseAgain = time.Minute
)

// eraseAccounts erases accounts that were closed until ctx ends. What is not
// finished then, or when the process is killed, is taken up by any node.
func (s *Server) eraseAccounts(ctx context.Context) error {
	changed := s.db.Listen(ctx, closedTopic)
	tick := time.NewTicker(eraseEvery)
	defer tick.Stop()
	for {
		if err := s.eraseClosed(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "erasing a closed account; it is tried again", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-tick.C:
		}
	}
}

// scrub takes what was deleted out of the log of the database, too.
func (s *Server) scrub(ctx context.Context) error { return s.db.RunScrub(ctx, s.log) }

// eraseClosed erases accounts until there is none to be taken.
func (s *Server) eraseClosed(ctx context.Context) error {
	for {
		account, closed, err := s.Auth.Accounts().TakeClosed(ctx, eraseLease)
		if errors.Is(err, auth.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		last := s.cfg.Now().Sub(closed) >= eraseAgain
		if err := s.eraseDeferred(ctx, account); err != nil {
			return err
		}
		if last {
			err = errors.Join(s.Jobs.Forget(ctx, account), s.Auth.Accounts().Forget(ctx, account))
		} else {
			err = errors.Join(s.Jobs.End(ctx, account, jobs.Account), s.Auth.Accounts().KeepClosed(ctx, account, eraseAgain))
		}
		if err != nil {
			return err
		}
		s.db.Erased()
		s.log.InfoContext(ctx, "an account was erased", slog.String("account", account), slog.Bool("finally", last))
	}
}

// eraseDeferred erases an account while it keeps it from other nodes.
func (s *Server) eraseDeferred(ctx context.Context, account string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		tick := time.NewTicker(eraseLease / 3)
		defer tick.Stop()
		for {
			select {
			case <-gctx.Done():
				return nil
			case <-tick.C:
				if err := s.Auth.Accounts().KeepClosed(gctx, account, eraseLease); err != nil && gctx.Err() == nil {
					return err
				}
			}
		}
	})
	g.Go(func() error {
		defer stop()
		return s.erase(gctx, account)
	})
	return g.Wait()
}

// erase removes everything of an account, its lines first: they end their
// sessions, and nothing new comes.
func (s *Server) erase(ctx context.Context, account string) error {
	for _, erase := range []func(context.Context) error{
		func(ctx context.Context) error { return s.Auth.Accounts().EraseUsers(ctx, account) },
		s.Messaging.For(account).DeleteAll,
		s.Webhooks.For(account).DeleteAll,
		s.Runs.For(account).DeleteAll,
		s.Bots.For(account).DeleteAll,
		s.Knowledge.For(account).DeleteAll,
		s.Flows.For(account).DeleteAll,
		s.Extractors.For(account).DeleteAll,
		s.Memory.For(account).DeleteAll,
		s.Remote.For(account).DeleteAll,
		s.Credentials.For(account).DeleteAll,
		s.MCP.For(account).DeleteAll,
		s.Usage.For(account).DeleteAll,
		func(ctx context.Context) error { return s.Billing.Forget(ctx, account) },
		func(ctx context.Context) error { return s.Quotas.Forget(ctx, account) },
		func(ctx context.Context) error { return s.audit.DeleteAll(ctx, account) },
	} {
		if err := erase(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) openJobs(ctx context.Context) (err error) {
	s.Jobs, err = job.Open(ctx, s.cfg.DB, &job.Options{
		Kinds:  map[string]job.Do{jobs.Chat: s.eraseChat, jobs.Reference: s.eraseReference},
		Logger: s.cfg.Logger, Now: s.cfg.Now,
	})
	return err
}

func erasureOf(j job.Job) (e messaging.Erasure, err error) {
	if err := json.Unmarshal(j.Args, &e); err != nil {
		return e, fmt.Errorf("reading a deletion: %w", err)
	}
	return e, nil
}

// eraseChat removes a chat that is hidden.
func (s *Server) eraseChat(ctx context.Context, j job.Job) error {
	e, err := erasureOf(j)
	if err != nil {
		return err
	}
	if err := s.Messaging.For(j.Account).Erase(ctx, e); err != nil {
		return err
	}
	s.db.Erased()
	return nil
}

// eraseReference removes a reference that is hidden, with all that belongs to it
// in other packages.
func (s *Server) eraseReference(ctx context.Context, j job.Job) error {
	e, err := erasureOf(j)
	if err != nil {
		return err
	}
	for _, erase := range []func() error{
		func() error { return s.Webhooks.For(j.Account).DeleteScope(ctx, view.WebhookScope(e.Reference)) },
		func() error { return s.Bots.For(j.Account).DeleteReference(ctx, j.Reference) },
		func() error { return s.Flows.For(j.Account).DeleteReference(ctx, j.Reference) },
		func() error { return s.Extractors.For(j.Account).DeleteReference(ctx, j.Reference) },
		func() error { return s.Runs.For(j.Account).Erase(ctx, runtime.Erasure{Reference: j.Reference}) },
		func() error { return s.Memory.For(j.Account).Erase(ctx, memory.Erasure{Reference: j.Reference}) },
		func() error { return s.Usage.For(j.Account).Erase(ctx, j.Reference, nil, e.At) },
		func() error { return s.Messaging.For(j.Account).Erase(ctx, e) },
	} {
		if err := erase(); err != nil {
			return err
		}
	}
	s.db.Erased()
	return nil
}
