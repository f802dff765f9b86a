package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/quota"
)

// Quotas counts what accounts use, and asks the quotas for more.
type Quotas struct {
	Bots      *botengine.Service
	DB        *database.DB
	Flows     *aiflow.Service
	Knowledge *knowledge.Service
	Messaging *messaging.Service
	Quotas    *quota.Service
	Runs      *runtime.Runtime
}

// Used returns what counts the use of each quota.
func (s *Quotas) Used() map[quota.Name]quota.Counter {
	count := func(of func() quota.Counter) quota.Counter {
		return func(ctx context.Context, q database.Reader, account string, since time.Time) (int64, error) {
			return of()(ctx, q, account, since)
		}
	}
	return map[quota.Name]quota.Counter{
		quota.References: count(func() quota.Counter { return s.Messaging.References }),
		quota.Contacts:   count(func() quota.Counter { return s.Messaging.Contacts }),
		quota.Storage:    s.storedBytes,
		quota.Messages:   count(func() quota.Counter { return s.Messaging.Sent }),
		quota.Runs:       count(func() quota.Counter { return s.Runs.Started }),
	}
}

// Admit asks the quotas before messaging stores something new, for every caller of
// messaging.
func (s *Quotas) Admit(ctx context.Context, on messaging.Tx, account string, what messaging.Wanted, n int64) (err error) {
	if what == messaging.WantReference {
		err = s.Quotas.TakeTx(ctx, on, account, quota.References, n)
	} else {
		err = s.Quotas.Take(ctx, on, account, quota.Name(what), n)
	}
	if over, ok := errors.AsType[*quota.Exceeded](err); ok {
		return &messaging.Error{Code: over.Code(), Message: over.Error(), After: over.After}
	}
	return err
}

// AdmitRun asks the quotas for a run that a request begins.
func (s *Quotas) AdmitRun(ctx context.Context, tx database.Executor, account string) error {
	return s.Quotas.Take(ctx, tx, account, quota.Runs, 1)
}

// AdmitFile asks the quotas for a file of a project.
func (s *Quotas) AdmitFile(ctx context.Context, account string, bytes int64) error {
	return s.Quotas.Take(ctx, s.DB, account, quota.Storage, bytes)
}

// AdmitVersion asks the quotas for a version of a flow or of a bot.
func (s *Quotas) AdmitVersion(ctx context.Context, tx database.Executor, account string, bytes int64) error {
	return s.Quotas.Take(ctx, tx, account, quota.Storage, bytes)
}

// storedBytes counts what an account keeps: the files of its chats and of its
// projects, and the versions of its flows and bots.
func (s *Quotas) storedBytes(ctx context.Context, q database.Reader, account string, since time.Time) (int64, error) {
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
