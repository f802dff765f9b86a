package web

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// lockedFor is how long the line leaves strangers alone when the network
// refuses and does not say until when.
const lockedFor = time.Hour

// timelock is that the account may not write to strangers for a while, or may
// again.
func (s *session) timelock(e *events.NotifyAccountReachoutTimelock) ([]provider.Event, error) {
	h, locked := s.mayOutreach(), time.Time{}
	if e.IsActive {
		until := e.TimeEnforcementEnds.Time
		h, locked = s.outreachRestricted(until), until
		if until.IsZero() {
			locked = h.At.Add(lockedFor)
		}
	}
	h.State = e.EnforcementType
	if err := s.lockOutreach(s.ctx, locked); err != nil {
		return nil, err
	}
	return []provider.Event{h}, nil
}

// restrictOutreach notes that the network refuses messages to strangers, and does not
// say until when.
func (s *session) restrictOutreach(ctx context.Context) {
	if s.rate.untilUnlocked() > 0 {
		return
	}
	err := s.lockOutreach(ctx, s.p.opts.Now().Add(lockedFor))
	if err == nil {
		err = s.inbox.Receive(ctx, s.ref.ID, []provider.Event{s.outreachRestricted(time.Time{})})
	}
	if err != nil {
		s.log.WarnContext(ctx, "noting that strangers cannot be written to", slog.Any("error", err))
	}
}

// letIn notes that the network takes messages to strangers again. When that
// cannot be stored the next such message tells.
func (s *session) letIn(ctx context.Context) {
	if !s.rate.wasLocked() {
		return
	}
	err := s.inbox.Receive(ctx, s.ref.ID, []provider.Event{s.mayOutreach()})
	if err == nil {
		err = s.lockOutreach(ctx, time.Time{})
	}
	if err != nil {
		s.log.WarnContext(ctx, "noting that strangers can be written to", slog.Any("error", err))
	}
}

func (s *session) mayOutreach() *provider.Health {
	now := s.p.opts.Now()
	return &provider.Health{Raw: provider.Raw{Kind: "reachout", ID: fmt.Sprint(now.UnixNano())}, Level: provider.HealthGood, At: now}
}

// outreachRestricted says until when, unless that is not known.
func (s *session) outreachRestricted(until time.Time) *provider.Health {
	h := s.mayOutreach()
	h.Level, h.Code = provider.HealthWarning, provider.HealthLimited
	h.Detail = "WhatsApp keeps the account from writing to people who have not written to it."
	if !until.IsZero() {
		h.Detail += " Until " + until.UTC().Format(time.RFC3339) + "."
	}
	return h
}

// outreach says until when the line leaves strangers alone.
func (s *session) outreach() error {
	return &provider.RateLimited{
		After: s.rate.untilUnlocked(), Code: string(provider.ReachoutLimited),
		Message: "WhatsApp keeps the account from writing to people who have not written to it.",
	}
}
