// Package erasure erases accounts, references, chats and contacts in all
// services that know of them.
package erasure

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/periodic"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/credential"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/remote"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/billing"
	"github.com/trunklinehq/trunkline/server/internal/api/jobs"
	"github.com/trunklinehq/trunkline/server/internal/auditlog"
	"github.com/trunklinehq/trunkline/server/job"
	"github.com/trunklinehq/trunkline/server/quota"
	"github.com/trunklinehq/trunkline/webhook"
)

// closedTopic is notified when an account was closed.
const closedTopic = "server.closed"

const (
	eraseEvery = time.Minute     // in case nothing is found to be due
	eraseLease = 9 * time.Second // after which another node continues with what a killed one began
	// eraseAgain is the time after which an account is erased once more, before
	// it is forgotten: requests and callbacks that were in progress when it was
	// closed have ended by then.
	eraseAgain = time.Minute
)

// Accounts closes accounts and erases those that are closed.
type Accounts struct {
	Audit       *auditlog.Store
	Auth        *auth.Service
	Billing     *billing.Service
	Bots        *botengine.Service
	Credentials *credential.Service
	DB          *database.DB
	Extractors  *store.Service
	Flows       *aiflow.Service
	Jobs        *job.Service
	Knowledge   *knowledge.Service
	Log         *slog.Logger
	MCP         func() *mcp.Registry
	Memory      *memory.Service
	Messaging   *messaging.Service
	Now         func() time.Time
	Quotas      *quota.Service
	Remote      *remote.Service
	Runs        *runtime.Runtime
	Usage       *usage.Ledger
	Webhooks    *webhook.Dispatcher
}

// Close ends an account: its users are refused when it returns. It returns the
// job of erasing what belongs to the account, which Run does on any node.
func (s *Accounts) Close(ctx context.Context, id string) (j job.Job, err error) {
	err = s.Auth.Accounts().Close(ctx, id, func(ctx context.Context, tx *database.Tx) (err error) {
		j, err = s.Jobs.AddTx(ctx, tx, job.New{Account: id, Kind: jobs.Account})
		return err
	})
	s.DB.Notify(closedTopic)
	return j, err
}

// Run erases accounts that were closed until ctx ends. What is not finished
// then, or when the process is killed, is continued by any node.
func (s *Accounts) Run(ctx context.Context) error {
	return periodic.Run(ctx, eraseEvery, s.DB.Due(ctx, closedTopic, s.Auth.Accounts().ClosedQuery), s.Log, "erasing a closed account; it is tried again", s.eraseClosed)
}

// eraseClosed erases closed accounts until there are no more.
func (s *Accounts) eraseClosed(ctx context.Context) error {
	for {
		account, closed, err := s.Auth.Accounts().TakeClosed(ctx, eraseLease)
		if errors.Is(err, auth.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		last := s.Now().Sub(closed) >= eraseAgain
		renew := func(ctx context.Context) error { return s.Auth.Accounts().KeepClosed(ctx, account, eraseLease) }
		erase := func(ctx context.Context) error { return s.erase(ctx, account) }
		if err := periodic.Leased(ctx, eraseLease, renew, erase); err != nil {
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
		s.DB.Erased()
		s.Log.InfoContext(ctx, "an account was erased", slog.String("account", account), slog.Bool("finally", last))
	}
}

// erase removes everything of an account. Its references come first: their
// sessions end, so that nothing new arrives.
func (s *Accounts) erase(ctx context.Context, account string) error {
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
		s.MCP().For(account).DeleteAll,
		s.Usage.For(account).DeleteAll,
		func(ctx context.Context) error { return s.Billing.Forget(ctx, account) },
		func(ctx context.Context) error { return s.Quotas.Forget(ctx, account) },
		func(ctx context.Context) error { return s.Audit.DeleteAll(ctx, account) },
	} {
		if err := erase(ctx); err != nil {
			return err
		}
	}
	return nil
}
