package server

import (
	"context"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/quota"
)

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

// monthOf is when the month of t began in UTC.
func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// DeleteAccount ends an account for good: its users are refused when it
// returns, and [Server.Run], on any node, erases everything that belongs to it.
func (s *Server) DeleteAccount(ctx context.Context, id string) error {
	_, err := s.adapters.accounts.Close(ctx, id)
	return err
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
