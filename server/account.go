package server

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/api/jobs"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/job"
)

// accountRoutes are what concerns the account as a whole.
func (s *Server) accountRoutes(a *httpapi.API) {
	httpapi.Register(a, httpapi.Operation{
		ID: "Server_Account", Method: http.MethodGet, Path: "/account", Summary: "Show the account, its subscription and what it uses",
	}, httpapi.AnyUser, s.showAccount)
	httpapi.Register(a, httpapi.Operation{
		ID: "Server_DeleteAccount", Method: http.MethodDelete, Path: "/account", Status: http.StatusAccepted,
		Summary: "Delete the account with everything that belongs to it",
		About: "Takes the caller's own password. All its users, tokens and sessions end at once. Its lines end their sessions, and then its " +
			"chats, messages, files, webhooks and logs are erased, which goes on after the answer.",
		Login: true, Owner: true,
	}, httpapi.AnyUser, s.deleteAccount)
}

// Account is what belongs to its users together.
type Account struct {
	ID               string              `json:"id"`
	Plan             *string             `json:"plan" doc:"What its subscription is called; null: it has none."`
	Status           *string             `json:"status" doc:"Of the subscription, in the words of Stripe: trialing, active, past_due, canceled, unpaid, paused, …; null: it has none."`
	CurrentPeriodEnd *messaging.UnixTime `json:"currentPeriodEnd" doc:"Of the subscription; null: unknown."`
	Usage            AccountUsage        `json:"usage"`
	Quotas           AccountQuotas       `json:"quotas"`
}

// AccountUsage is what an account has, and has done this month.
type AccountUsage struct {
	Since       messaging.UnixTime `json:"since" doc:"Messages and deliveries are counted from here on: the beginning of this month in UTC."`
	References  int64              `json:"references"`
	Users       int64              `json:"users"`
	MessagesIn  int64              `json:"messagesIn" doc:"Messages of contacts, also those that were deleted."`
	MessagesOut int64              `json:"messagesOut" doc:"Own messages, wherever they were written."`
	Deliveries  int64              `json:"deliveries" doc:"Webhook deliveries that arrived."`
	MediaBytes  int64              `json:"mediaBytes" doc:"Of the files that are kept now."`
}

// Account shows an account. It is cheap, however much the account has.
func (s *Server) Account(ctx context.Context, id string) (Account, error) {
	v := Account{ID: id, Usage: AccountUsage{Since: messaging.UnixTime{Time: monthOf(s.cfg.Now())}}}
	sub, err := s.Billing.Subscription(ctx, id)
	if err != nil {
		return v, err
	}
	if sub.Status != "" {
		v.Plan, v.Status = &sub.Plan, &sub.Status
	}
	if !sub.CurrentPeriodEnd.IsZero() {
		v.CurrentPeriodEnd = &messaging.UnixTime{Time: sub.CurrentPeriodEnd}
	}
	u := &v.Usage
	used, err := s.Messaging.For(id).Usage(ctx, u.Since.Time)
	if err != nil {
		return v, err
	}
	u.References, u.MessagesIn, u.MessagesOut, u.MediaBytes = used.References, used.Received, used.Sent, used.MediaBytes
	if u.Deliveries, err = s.Webhooks.For(id).Delivered(ctx, u.Since.Time); err != nil {
		return v, err
	}
	if u.Users, err = s.Auth.Users().Count(ctx, id); err != nil {
		return v, err
	}
	v.Quotas, err = s.accountQuotas(ctx, id)
	return v, err
}

func (s *Server) showAccount(ctx context.Context, c httpapi.Call, _ *struct{}) (Account, error) {
	return s.Account(ctx, c.Account)
}

// monthOf is when the month of t began in UTC.
func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// DeleteAccount ends an account for good: its users are refused when it
// returns, and [Server.Run], on any node, erases everything that belongs to it.
func (s *Server) DeleteAccount(ctx context.Context, id string) error {
	_, err := s.closeAccount(ctx, id)
	return err
}

func (s *Server) closeAccount(ctx context.Context, id string) (j job.Job, err error) {
	err = s.Auth.Accounts().Close(ctx, id, func(ctx context.Context, tx *sqlx.Tx) (err error) {
		j, err = s.Jobs.AddTx(ctx, tx, job.New{Account: id, Kind: jobs.Account})
		return err
	})
	s.db.Notify(closedTopic)
	return j, err
}

type deleteAccount struct {
	Body struct {
		Password string `json:"password" minLength:"1" maxLength:"1000" doc:"The caller's own."`
	}
}

func (s *Server) deleteAccount(ctx context.Context, c httpapi.Call, in *deleteAccount) (jobs.Deleting, error) {
	if err := s.Auth.Users().ConfirmPassword(ctx, c.Caller, in.Body.Password, c.Client); err != nil {
		return jobs.Deleting{}, err
	}
	j, err := s.closeAccount(ctx, c.Account)
	if err != nil {
		return jobs.Deleting{}, err
	}
	// The audit log goes with the account.
	s.log.InfoContext(ctx, "a user has closed the account", slog.String("account", c.Account), slog.String("user", c.User), slog.String("address", c.Client.String()))
	return jobs.Deleting{Success: true, Job: jobs.NewView(j)}, nil
}
