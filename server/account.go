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
	Plan             *string             `json:"plan" doc:"Name of the plan; null if there is no subscription."`
	Status           *string             `json:"status" doc:"Stripe's status of the subscription: trialing, active, past_due, canceled, unpaid, paused or another; null if there is no subscription."`
	CurrentPeriodEnd *messaging.UnixTime `json:"currentPeriodEnd" doc:"End of the subscription's current period; null if unknown."`
	Usage            AccountUsage        `json:"usage"`
	Quotas           AccountQuotas       `json:"quotas"`
}

// AccountUsage is what an account has, and has done this month.
type AccountUsage struct {
	Since       messaging.UnixTime `json:"since" doc:"Time from which messages and deliveries are counted: the start of this month in UTC."`
	References  int64              `json:"references"`
	Users       int64              `json:"users"`
	MessagesIn  int64              `json:"messagesIn" doc:"Messages received from contacts, including deleted ones."`
	MessagesOut int64              `json:"messagesOut" doc:"Messages sent by the account, from this server or another device."`
	Deliveries  int64              `json:"deliveries" doc:"Webhook deliveries that succeeded."`
	MediaBytes  int64              `json:"mediaBytes" doc:"Size of the files stored now, in bytes."`
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
	References QuotaState `json:"references" doc:"Number of connected numbers, pages and accounts (references)."`
	Contacts   QuotaState `json:"contacts" doc:"Number of chats with people. A contact who writes first is never refused."`
	Storage    QuotaState `json:"storage" doc:"Bytes of the files of chats and projects, and of the published versions of flows and bots. A file from a contact is never refused."`
	Messages   QuotaState `json:"messages" doc:"Messages sent by the account, per day in UTC. Received messages are never refused."`
	Runs       QuotaState `json:"runs" doc:"Runs of flows and bots, per day in UTC. A run that a contact's message starts is counted, but never refused."`
	API        QuotaState `json:"api" doc:"Requests per minute, on each node of the server."`
}

// QuotaState is how a quota stands.
type QuotaState struct {
	Limit    *int64              `json:"limit" doc:"null if there is no limit."`
	Used     int64               `json:"used"`
	ResetsAt *messaging.UnixTime `json:"resetsAt" doc:"Time when the count starts again at 0; null if the count only falls when something is deleted."`
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
