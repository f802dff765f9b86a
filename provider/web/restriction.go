package web

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// lockedFor is how long messages to new contacts are blocked when the network
// refuses them and does not say until when.
const lockedFor = time.Hour

// restriction records and reports whether the network lets the account write to
// new contacts.
type restriction struct {
	conn  *connection
	inbox provider.Inbox
	rate  *sendRate
}

// timelock returns the event of a restriction that begins or ends.
func (rs *restriction) timelock(e *events.NotifyAccountReachoutTimelock) ([]provider.Event, error) {
	h, locked := rs.lifted(), time.Time{}
	if e.IsActive {
		until := e.TimeEnforcementEnds.Time
		h, locked = rs.imposed(until), until
		if until.IsZero() {
			locked = rs.rate.shown().Add(lockedFor)
		}
	}
	h.State = e.EnforcementType
	if err := rs.rate.lockOutreach(rs.conn.ctx, locked); err != nil {
		return nil, err
	}
	return []provider.Event{h}, nil
}

// note records that the network refuses messages to new contacts without saying
// until when.
func (rs *restriction) note(ctx context.Context) {
	if rs.rate.limiter.untilUnlocked() > 0 {
		return
	}
	err := rs.rate.lockOutreach(ctx, rs.rate.shown().Add(lockedFor))
	if err == nil {
		err = rs.inbox.Receive(ctx, rs.conn.ref.ID, []provider.Event{rs.imposed(time.Time{})})
	}
	if err != nil {
		rs.conn.log.WarnContext(ctx, "recording an outreach restriction", slog.Any("error", err))
	}
}

// lift records that the network accepts messages to new contacts again. If that
// cannot be stored, the next message to a new contact records it.
func (rs *restriction) lift(ctx context.Context) {
	if !rs.rate.limiter.wasLocked() {
		return
	}
	err := rs.inbox.Receive(ctx, rs.conn.ref.ID, []provider.Event{rs.lifted()})
	if err == nil {
		err = rs.rate.lockOutreach(ctx, time.Time{})
	}
	if err != nil {
		rs.conn.log.WarnContext(ctx, "recording the end of an outreach restriction", slog.Any("error", err))
	}
}

// lifted is the event that new contacts can be written to.
func (rs *restriction) lifted() *provider.Health {
	now := rs.conn.now()
	return &provider.Health{Raw: provider.Raw{Kind: "reachout", ID: fmt.Sprint(now.UnixNano())}, Level: provider.HealthGood, At: now}
}

// imposed is the event that new contacts cannot be written to. The zero time
// means that the end is not known.
func (rs *restriction) imposed(until time.Time) *provider.Health {
	h := rs.lifted()
	h.Level, h.Code = provider.HealthWarning, provider.HealthLimited
	h.Detail = "WhatsApp keeps the account from writing to people who have not written to it."
	if !until.IsZero() {
		h.Detail += " Until " + until.UTC().Format(time.RFC3339) + "."
	}
	return h
}
