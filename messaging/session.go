package messaging

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Session is how a reference stands with its network.
type Session struct {
	Reference   provider.ReferenceID `json:"reference"`
	State       State                `json:"state" enum:"STOPPED,STARTING,PAIRING,CONNECTED,RECONNECTING,LOGGED_OUT,FAILED"`
	QR          *QR                  `json:"qr"`
	PairingCode *string              `json:"pairingCode"`
	Account     *SessionAccount      `json:"account" doc:"Who the line speaks for, as the network says."`
	ConnectedAt *UnixTime            `json:"connectedAt"`
	Health      Health               `json:"health"`
	LastError   *SessionError        `json:"lastError"`
	Node        *string              `json:"node"`
}

// QR is a code to be scanned.
type QR struct {
	Code      string   `json:"code"`
	Image     string   `json:"image" doc:"A data: URL of a PNG."`
	ExpiresAt UnixTime `json:"expiresAt"`
}

// SessionAccount is who a reference speaks for.
type SessionAccount struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	VerifiedBizName string `json:"verifiedBizName"`
}

// Health says when a reference last showed signs of life.
type Health struct {
	LastInboundAt *UnixTime `json:"lastInboundAt"`
	LastAckAt     *UnixTime `json:"lastAckAt"`
	LastProbeAt   *UnixTime `json:"lastProbeAt"`
	// Reports of the network are there when a session is asked for by itself;
	// those that follow from the settings always.
	Reports []HealthReport `json:"reports,omitempty" nullable:"false" doc:"What does not work with the settings that the line has, such as callbacks.unverified. When the session is asked for by itself also what the network last said of the line: its quality, limits, account and credentials."`
}

// sessionOf is how a reference stands with its network.
func sessionOf(r *store.Reference, now time.Time) Session {
	s := Session{
		Reference: r.ID, State: r.State, ConnectedAt: payload.OptionalTime(r.ConnectedUS),
		Health: Health{LastInboundAt: payload.OptionalTime(r.InboundUS), LastAckAt: payload.OptionalTime(r.AckUS), LastProbeAt: payload.OptionalTime(r.ProbeUS)},
	}
	if r.State == StatePairing {
		s.QR = qrView(r, database.Micros(now))
		if r.PairingCode != "" && r.PairingUS > database.Micros(now) {
			s.PairingCode = &r.PairingCode
		}
	}
	if r.Node != "" {
		s.Node = &r.Node
	}
	if r.RemoteID != "" {
		s.Account = &SessionAccount{r.RemoteID, r.RemoteName, r.RemoteBiz}
	}
	if r.ErrorCode != "" {
		s.LastError = &SessionError{Code: r.ErrorCode, Message: r.ErrorMessage, At: payload.TimeOf(r.ErrorUS), RetryAt: payload.OptionalTime(r.ErrorRetryUS)}
	}
	return s
}

// SessionStatus returns how a reference stands.
func (a *Account) SessionStatus(ctx context.Context, id provider.ReferenceID) (Session, error) {
	row, err := a.row(ctx, a.s.db, id)
	if err != nil {
		return Session{}, err
	}
	return a.s.reported(ctx, row)
}

// reported is a session with what the network said of the reference's health.
func (s *Service) reported(ctx context.Context, row *store.Reference) (Session, error) {
	out := sessionOf(row, s.now())
	p, err := s.kind(row.Kind)
	if err != nil {
		return Session{}, err
	}
	settings, err := s.openSettings(p, row)
	if err != nil {
		return Session{}, err
	}
	reports, err := s.reports(ctx, row.ID)
	out.Health.Reports = append(inspect(p, settings, row), reports...)
	return out, err
}

// StartSession connects a reference. On lines that receive by callback it checks
// the credentials with the network and subscribes to its events; a refusal is
// the session's lastError, in the network's own words. A reference that is a
// connection begins to connect, or to be linked by a QR code that
// [Account.SessionStatus] and the stream show.
func (a *Account) StartSession(ctx context.Context, id provider.ReferenceID) (Session, error) {
	row, _, err := a.opened(ctx, id)
	if err != nil {
		return Session{}, err
	}
	if a.s.connects(row.Kind) {
		return a.connectReference(ctx, row, "")
	}
	row, err = a.s.check(ctx, row, audit.ReferenceConnect)
	if err != nil {
		return Session{}, err
	}
	if row.Proved {
		if err := a.s.templates.FetchAfterStart(ctx, row); err != nil {
			return Session{}, err
		}
	}
	return a.s.reported(ctx, row)
}

// LinkSession is [Account.StartSession] for a reference that is linked to a phone: by
// a QR code, or, with the number of that phone, by a code that is typed there.
// On other references it is an [*Invalid].
func (a *Account) LinkSession(ctx context.Context, id provider.ReferenceID, phone string) (Session, error) {
	row, p, err := a.opened(ctx, id)
	switch {
	case err != nil:
		return Session{}, err
	case !a.s.connects(row.Kind):
		return Session{}, &Invalid{Field: "method", Message: "is for lines that are linked to a phone"}
	case phone == "":
		return a.connectReference(ctx, row, "")
	}
	to, err := p.Address(phone)
	if err != nil || to.Phone == "" {
		return Session{}, &Invalid{Field: "phone", Message: "must be a phone number with its country code"}
	}
	return a.connectReference(ctx, row, to.Phone)
}

// Logout ends a session: the reference refuses sends until it is started again.
// What arrives is still stored. A reference that is linked to a phone is taken off
// it.
func (a *Account) Logout(ctx context.Context, id provider.ReferenceID) (Session, error) {
	row, err := a.row(ctx, a.s.db, id)
	if err != nil {
		return Session{}, err
	}
	row, err = a.s.setState(ctx, row.ID, audit.ReferenceLogout, func(r *store.Reference) { r.State, r.ConnectedUS = StateLoggedOut, 0 })
	if err != nil {
		return Session{}, err
	}
	a.s.sessions.drop(id, a.s.opts.Logger)
	if a.s.connects(row.Kind) {
		err = a.s.store.InBatch(ctx, func(u *store.Batch) error { return desireUnlinked(ctx, u, row.ID) })
		a.s.db.Wake(leaseTopic)
	}
	return sessionOf(row, a.s.now()), err
}

// check asks the network about a reference's credentials and stores the answer. action
// is what a user asked for; "": nobody did.
func (s *Service) check(ctx context.Context, row *store.Reference, action audit.Action) (*store.Reference, error) {
	row = s.complete(ctx, row)
	sess, err := s.sessions.get(ctx, s, row)
	if err != nil {
		return nil, err
	}
	var who provider.Account
	if c, ok := sess.(provider.Checker); ok {
		who, err = c.Check(ctx)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		if healthErr := s.replaceHealth(ctx, row.ID, who.Health); healthErr != nil {
			return nil, healthErr
		}
	}
	revision := row.Revision
	row, txErr := s.setState(ctx, row.ID, action, func(r *store.Reference) {
		if r.Revision != revision {
			return // the answer is about settings that have changed
		}
		now := database.Micros(s.now())
		r.ProbeUS = now
		if err != nil {
			r.ErrorCode, r.ErrorMessage, r.ErrorUS = refusal.SessionCode(err), refusal.Text(err), now
			if refusal.Certain(err) { // else the network is out of reach, which proves nothing
				r.State, r.ConnectedUS, r.Proved = StateFailed, 0, false
			}
			return
		}
		markReferenceConnected(r, now)
		r.Proved = true
		r.RemoteID, r.RemoteName, r.RemoteBiz = store.Sanitize(who.ID), store.Sanitize(who.Name), store.Sanitize(who.VerifiedBizName)
		applyHealthIssue(r, nil, worst(healthIssues(who.Health, now)), now)
	})
	if txErr != nil {
		return nil, txErr
	}
	s.referencesChanged()
	return row, nil
}

// markReferenceConnected marks a reference as in touch with its network.
func markReferenceConnected(r *store.Reference, nowUS int64) {
	if r.State != StateConnected {
		r.ConnectedUS = nowUS
	}
	r.State, r.ErrorCode, r.ErrorMessage, r.ErrorUS, r.ErrorRetryUS = StateConnected, "", "", 0, 0
}

// setState changes a reference's session and says so when its state changed.
// action is what a user asked for; "": nobody did.
func (s *Service) setState(ctx context.Context, id provider.ReferenceID, action audit.Action, change func(*store.Reference)) (*store.Reference, error) {
	var row *store.Reference
	err := s.db.InTx(ctx, func(tx *sqlx.Tx) (err error) {
		u := s.store.Begin(tx)
		if row, err = store.LockReference(ctx, u, id); err != nil {
			return err
		}
		before := *row
		change(row)
		if err := saveSession(ctx, u, row, before); err != nil {
			return err
		}
		if action != "" {
			if err := recordReferenceTx(ctx, tx, action, row, nil); err != nil {
				return err
			}
		}
		return u.Flush(ctx)
	})
	if err == nil {
		s.Committed()
	}
	return row, err
}

// saveSession writes a session and says so when its state changed.
func saveSession(ctx context.Context, u *store.Batch, r *store.Reference, before store.Reference) error {
	if *r == before {
		return nil
	}
	switch {
	case r.State != before.State:
		publishSession(u, r)
	case r.QR != before.QR, r.PairingCode != before.PairingCode:
		u.Publish(r.Account, r.ID, string(EventSession), sessionOf(r, u.Now)) // for who looks on; nothing has changed for others
	}
	return writeSession(ctx, u.Tx, r)
}

func writeSession(ctx context.Context, tx *sqlx.Tx, r *store.Reference) error {
	_, err := tx.ExecContext(ctx, `UPDATE messaging_reference SET state = $1, proved = $2, remote_id = $3, remote_name = $4, remote_biz = $5,
		connected_us = $6, probe_us = $7, error_code = $8, error_message = $9, error_us = $10, error_retry_us = $11,
		qr = $12, pairing_code = $13, pairing_until_us = $14, node = $15 WHERE id = $16`,
		r.State, r.Proved, r.RemoteID, r.RemoteName, r.RemoteBiz, r.ConnectedUS, r.ProbeUS,
		r.ErrorCode, r.ErrorMessage, r.ErrorUS, r.ErrorRetryUS, r.QR, r.PairingCode, r.PairingUS, r.Node, r.ID)
	if err != nil {
		return fmt.Errorf("storing a session: %w", err)
	}
	return nil
}

// publishSession makes the event of a changed state.
func publishSession(u *store.Batch, r *store.Reference) {
	view := sessionOf(r, u.Now)
	u.Publish(r.Account, r.ID, string(EventSession), view)
	u.Events = append(u.Events, Event{
		ID: store.NewID(), Type: EventSession, Account: r.Account, Reference: r.ID, Key: fmt.Sprintf("%d:session", r.ID), At: u.Now,
		Payload: payload.MustEncode(SessionPayload{Reference: r.ID, Ref: r.ID, State: r.State, LastError: view.LastError, Timestamp: UnixTime{Time: u.Now}}),
	})
}
