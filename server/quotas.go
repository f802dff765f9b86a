package server

import (
	"context"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/quota"
)

// openQuotas opens what bounds accounts. What is used is counted by the
// services, which are opened later.
func (s *Server) openQuotas(ctx context.Context) (err error) {
	count := func(of func() quota.Counter) quota.Counter {
		return func(ctx context.Context, q sqlx.QueryerContext, account string, since time.Time) (int64, error) {
			return of()(ctx, q, account, since)
		}
	}
	s.Quotas, err = quota.New(ctx, s.cfg.DB, &quota.Options{
		Defaults: s.cfg.Quotas, Now: s.cfg.Now,
		Used: map[quota.Name]quota.Counter{
			quota.References: count(func() quota.Counter { return s.Messaging.References }),
			quota.Contacts:   count(func() quota.Counter { return s.Messaging.Contacts }),
			quota.Storage:    s.storedBytes,
			quota.Messages:   count(func() quota.Counter { return s.Messaging.Sent }),
			quota.Runs:       count(func() quota.Counter { return s.Runs.Started }),
		},
	})
	return err
}

// admit asks the quotas for messaging, whichever door a request came by.
func (s *Server) admit(ctx context.Context, q sqlx.ExtContext, account string, what messaging.Wanted, n int64) (err error) {
	tx, inTx := q.(*sqlx.Tx)
	if what == messaging.WantReference && inTx {
		err = s.Quotas.TakeTx(ctx, tx, account, quota.References, n)
	} else {
		err = s.Quotas.Take(ctx, q, account, quota.Name(what), n)
	}
	var over *quota.Exceeded
	if errors.As(err, &over) {
		return &messaging.Error{Code: over.Code(), Message: over.Error(), After: over.After}
	}
	return err
}

// admitRun asks the quotas for a run that a request begins.
func (s *Server) admitRun(ctx context.Context, tx *sqlx.Tx, account string) error {
	return s.Quotas.Take(ctx, tx, account, quota.Runs, 1)
}

// admitFile asks the quotas for a file of a project.
func (s *Server) admitFile(ctx context.Context, account string, bytes int64) error {
	return s.Quotas.Take(ctx, s.cfg.DB, account, quota.Storage, bytes)
}

// admitVersion asks the quotas for a version of a flow or of a bot.
func (s *Server) admitVersion(ctx context.Context, tx *sqlx.Tx, account string, bytes int64) error {
	return s.Quotas.Take(ctx, tx, account, quota.Storage, bytes)
}

// storedBytes counts what an account keeps: the files of its chats and of its
// projects, and the versions of its flows and bots.
func (s *Server) storedBytes(ctx context.Context, q sqlx.QueryerContext, account string, since time.Time) (int64, error) {
	media, err := s.Messaging.MediaBytes(ctx, q, account, since)
	if err != nil {
		return 0, err
	}
	files, err := s.Knowledge.Bytes(ctx, q, account)
	if err != nil {
		return 0, err
	}
	flows, err := s.Flows.VersionBytes(ctx, q, account)
	if err != nil {
		return 0, err
	}
	bots, err := s.Bots.VersionBytes(ctx, q, account)
	return media + files + flows + bots, err
}

// quotaProblem translates the refusals of package quota.
func quotaProblem(err error) *Problem {
	var over *quota.Exceeded
	if !errors.As(err, &over) {
		return nil
	}
	p := httpapi.NewProblem(over.Code(), over.Error())
	if over.After > 0 {
		p.RetryAfter(over.After)
	}
	return p
}

// AccountQuotas are the quotas of an account.
type AccountQuotas struct {
	References QuotaState `json:"references" doc:"Connected numbers, pages and accounts."`
	Contacts   QuotaState `json:"contacts" doc:"Chats with people. A contact who writes first is never refused."`
	Storage    QuotaState `json:"storage" doc:"Bytes of the files that are kept, of chats and projects, and of the published versions of flows and bots. A file that a contact sends is never refused."`
	Messages   QuotaState `json:"messages" doc:"Own messages, a day in UTC. Received ones are never refused."`
	Runs       QuotaState `json:"runs" doc:"Runs of flows and bots, a day in UTC. A run that a message of a contact begins is counted and never refused."`
	API        QuotaState `json:"api" doc:"Requests a minute, on each node."`
}

// QuotaState is how a quota stands.
type QuotaState struct {
	Limit    *int64              `json:"limit" doc:"null: unlimited."`
	Used     int64               `json:"used"`
	ResetsAt *messaging.UnixTime `json:"resetsAt" doc:"When it begins anew; null: it goes down when something is deleted."`
}

// accountQuotas shows the quotas of an account.
func (s *Server) accountQuotas(ctx context.Context, account string) (AccountQuotas, error) {
	states, err := s.Quotas.States(ctx, account)
	if err != nil {
		return AccountQuotas{}, err
	}
	of := func(name quota.Name) QuotaState {
		state := states[name]
		v := QuotaState{Used: state.Used}
		if state.Limit > 0 {
			v.Limit = &state.Limit
		}
		if !state.ResetsAt.IsZero() {
			v.ResetsAt = &messaging.UnixTime{Time: state.ResetsAt}
		}
		return v
	}
	return AccountQuotas{of(quota.References), of(quota.Contacts), of(quota.Storage), of(quota.Messages), of(quota.Runs), of(quota.API)}, nil
}
