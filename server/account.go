package server

import (
	"context"
	"net/http"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
)

// accountRoutes are what concerns the account as a whole.
func (s *Server) accountRoutes(a *api) {
	register(a, operation{
		id: "Server_Account", method: http.MethodGet, path: "/account", summary: "Show the account, its subscription and what it uses",
	}, anyUser, s.showAccount)
	register(a, operation{
		id: "Server_DeleteAccount", method: http.MethodDelete, path: "/account", summary: "Delete the account with everything that belongs to it",
		about: "Takes the caller's own password. All its users, tokens and sessions end at once. Its lines end their sessions, and then its " +
			"chats, messages, files, webhooks and logs are erased, which goes on after the answer.",
		login: true,
	}, auth.UsersManage, s.deleteAccount)
}

type accountView struct {
	ID               string              `json:"id"`
	Plan             *string             `json:"plan" doc:"What its subscription is called; null: it has none."`
	Status           *string             `json:"status" doc:"Of the subscription, in the words of Stripe: trialing, active, past_due, canceled, unpaid, paused, …; null: it has none."`
	CurrentPeriodEnd *messaging.UnixTime `json:"currentPeriodEnd" doc:"Of the subscription; null: unknown."`
	Usage            usageView           `json:"usage"`
}

type usageView struct {
	Since       messaging.UnixTime `json:"since" doc:"Messages and deliveries are counted from here on: the beginning of this month in UTC."`
	References  int64              `json:"references"`
	Users       int64              `json:"users"`
	MessagesIn  int64              `json:"messagesIn" doc:"Messages of contacts, also those that were deleted."`
	MessagesOut int64              `json:"messagesOut" doc:"Own messages, wherever they were written."`
	Deliveries  int64              `json:"deliveries" doc:"Webhook deliveries that arrived."`
	MediaBytes  int64              `json:"mediaBytes" doc:"Of the files that are kept now."`
}

func (s *Server) showAccount(ctx context.Context, c call, _ *struct{}) (accountView, error) {
	v := accountView{ID: c.Account, Usage: usageView{Since: messaging.UnixTime{Time: monthOf(s.cfg.Now())}}}
	sub, err := s.Billing.Subscription(ctx, c.Account)
	if err != nil {
		return v, err
	}
	if sub.Status != "" {
		v.Plan, v.Status = &sub.Plan, &sub.Status
	}
	if !sub.CurrentPeriodEnd.IsZero() {
		v.CurrentPeriodEnd = &messaging.UnixTime{Time: sub.CurrentPeriodEnd}
	}
	used, err := s.account(c).Usage(ctx, v.Usage.Since.Time)
	if err != nil {
		return v, err
	}
	u := &v.Usage
	u.References, u.MessagesIn, u.MessagesOut, u.MediaBytes = used.References, used.Received, used.Sent, used.MediaBytes
	if u.Deliveries, err = s.hooks(c).Delivered(ctx, u.Since.Time); err != nil {
		return v, err
	}
	u.Users, err = s.Auth.CountUsers(ctx, c.Account)
	return v, err
}

// monthOf is when the month of t began in UTC.
func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

type deleteAccount struct {
	Body struct {
		Password string `json:"password" minLength:"1" maxLength:"1000" doc:"The caller's own."`
	}
}

func (s *Server) deleteAccount(ctx context.Context, c call, in *deleteAccount) (done, error) {
	if err := s.Auth.ConfirmPassword(ctx, c.Caller, in.Body.Password, c.Client); err != nil {
		return done{}, err
	}
	err := s.Auth.CloseAccount(ctx, c.Account)
	s.db.Wake(closedTopic)
	return done{true}, err
}
