package session

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
)

// View is how a reference stands with its network.
func View(r *store.Reference, now time.Time) payload.Session {
	s := payload.Session{
		Reference: r.ID, State: r.State, ConnectedAt: payload.OptionalTime(r.ConnectedUS),
		Health: payload.Health{LastInboundAt: payload.OptionalTime(r.InboundUS), LastAckAt: payload.OptionalTime(r.AckUS), LastProbeAt: payload.OptionalTime(r.ProbeUS)},
	}
	if r.State == payload.StatePairing {
		s.QR = qrView(r, database.Micros(now))
		if r.PairingCode != "" && r.PairingUS > database.Micros(now) {
			s.PairingCode = &r.PairingCode
		}
		s.Passkey = passkeyView(r, database.Micros(now))
	}
	if r.Node != "" {
		s.Node = &r.Node
	}
	if r.RemoteID != "" {
		s.Account = &payload.SessionAccount{ID: r.RemoteID, Name: r.RemoteName, VerifiedBizName: r.RemoteBiz}
	}
	if r.ErrorCode != "" {
		s.LastError = &payload.SessionError{Code: r.ErrorCode, Message: r.ErrorMessage, At: payload.TimeOf(r.ErrorUS), RetryAt: payload.OptionalTime(r.ErrorRetryUS)}
	}
	return s
}

// MarkConnected marks a reference as in touch with its network.
func MarkConnected(r *store.Reference, nowUS int64) {
	if r.State != payload.StateConnected {
		r.ConnectedUS = nowUS
	}
	r.State, r.ErrorCode, r.ErrorMessage, r.ErrorUS, r.ErrorRetryUS = payload.StateConnected, "", "", 0, 0
}

// Save writes a session and says so when its state changed.
func Save(ctx context.Context, u *store.Batch, r *store.Reference, before store.Reference) error {
	if *r == before {
		return nil
	}
	switch {
	case r.State != before.State:
		publish(u, r)
	case r.QR != before.QR, r.PairingCode != before.PairingCode, r.Passkey != before.Passkey:
		u.Publish(r.Account, r.ID, string(payload.EventSession), View(r, u.Now)) // for who looks on; nothing has changed for others
	}
	return Write(ctx, u.Tx, r)
}

// Write stores the session of a reference.
func Write(ctx context.Context, tx *database.Tx, r *store.Reference) error {
	_, err := tx.ExecContext(ctx, `UPDATE messaging_reference SET state = $1, proved = $2, remote_id = $3, remote_name = $4, remote_biz = $5,
		connected_us = $6, probe_us = $7, error_code = $8, error_message = $9, error_us = $10, error_retry_us = $11,
		qr = $12, pairing_code = $13, pairing_until_us = $14, passkey = $15, node = $16 WHERE id = $17`,
		r.State, r.Proved, r.RemoteID, r.RemoteName, r.RemoteBiz, r.ConnectedUS, r.ProbeUS,
		r.ErrorCode, r.ErrorMessage, r.ErrorUS, r.ErrorRetryUS, r.QR, r.PairingCode, r.PairingUS, r.Passkey, r.Node, r.ID)
	if err != nil {
		return fmt.Errorf("storing a session: %w", err)
	}
	return nil
}

// publish makes the event of a changed state.
func publish(u *store.Batch, r *store.Reference) {
	view := View(r, u.Now)
	u.Publish(r.Account, r.ID, string(payload.EventSession), view)
	u.Events = append(u.Events, payload.Event{
		ID: store.NewID(), Type: payload.EventSession, Account: r.Account, Reference: r.ID, Key: fmt.Sprintf("%d:session", r.ID), At: u.Now,
		Payload: payload.MustEncode(payload.SessionPayload{Reference: r.ID, Ref: r.ID, State: r.State, LastError: view.LastError, Timestamp: payload.UnixTime{Time: u.Now}}),
	})
}
