package messaging

import (
	"context"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/connection"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/session"
	"github.com/trunklinehq/trunkline/messaging/internal/settings"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Sessions are the sessions of an account: for each reference, whether it is
// connected to its network.
type Sessions Account

// Sessions returns the sessions of the account.
func (a *Account) Sessions() *Sessions { return (*Sessions)(a) }

// Status returns the session of a reference, with the health reports of its
// network.
func (a *Sessions) Status(ctx context.Context, id provider.ReferenceID) (Session, error) {
	row, err := store.ReferenceOf(ctx, a.s.db, a.id, id)
	if err != nil {
		return Session{}, err
	}
	return a.s.reported(ctx, row)
}

// reported is a session with what the network said of the reference's health.
func (s *Service) reported(ctx context.Context, row *store.Reference) (Session, error) {
	out := session.View(row, s.now())
	p, err := s.store.Provider(row.Kind)
	if err != nil {
		return Session{}, err
	}
	values, err := s.settings.Open(p, row)
	if err != nil {
		return Session{}, err
	}
	reports, err := session.Reports(ctx, s.store, row.ID)
	out.Health.Reports = append(settings.Inspect(p, values, row), reports...)
	return out, err
}

// Start connects a reference. On references that receive by callback it checks
// the credentials with the network and subscribes to its events; a refusal is
// the session's lastError, in the network's own words. A reference that is a
// connection begins to connect, or to be linked by a QR code that
// [Sessions.Status] and the stream show.
func (a *Sessions) Start(ctx context.Context, id provider.ReferenceID) (Session, error) {
	row, _, err := a.s.store.Opened(ctx, a.s.db, a.id, id)
	if err != nil {
		return Session{}, err
	}
	if a.s.store.Connects(row.Kind) {
		return a.connect(ctx, row, "")
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

// Link is [Sessions.Start] for a reference that is linked to a phone: by
// a QR code, or, with the number of that phone, by a code that is typed there.
// On other references it is an [*Invalid].
func (a *Sessions) Link(ctx context.Context, id provider.ReferenceID, phone string) (Session, error) {
	row, p, err := a.s.store.Opened(ctx, a.s.db, a.id, id)
	switch {
	case err != nil:
		return Session{}, err
	case !a.s.store.Connects(row.Kind):
		return Session{}, &Invalid{Field: "method", Message: "is only allowed for references that are linked to a phone"}
	case phone == "":
		return a.connect(ctx, row, "")
	}
	to, err := p.Address(phone)
	if err != nil || to.Phone == "" {
		return Session{}, &Invalid{Field: "phone", Message: "must be a phone number with its country code"}
	}
	return a.connect(ctx, row, to.Phone)
}

// Logout ends a session: the reference refuses sends until it is started again.
// What arrives is still stored. A reference that is linked to a phone is taken off
// it.
func (a *Sessions) Logout(ctx context.Context, id provider.ReferenceID) (Session, error) {
	row, err := store.ReferenceOf(ctx, a.s.db, a.id, id)
	if err != nil {
		return Session{}, err
	}
	row, err = a.s.setState(ctx, row.ID, audit.ReferenceLogout, func(r *store.Reference) { r.State, r.ConnectedUS = StateLoggedOut, 0 })
	if err != nil {
		return Session{}, err
	}
	a.s.connections.Drop(id)
	if a.s.store.Connects(row.Kind) {
		err = a.s.store.InBatch(ctx, func(u *store.Batch) error { return connection.DesireUnlinked(ctx, u, row.ID) })
		a.s.connections.Notify()
	}
	return session.View(row, a.s.now()), err
}

// check asks the network about a reference's credentials and stores the answer. action
// is what a user asked for; "": none did.
func (s *Service) check(ctx context.Context, row *store.Reference, action audit.Action) (*store.Reference, error) {
	row = s.settings.Complete(ctx, row)
	sess, err := s.connections.Get(ctx, row)
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
		if healthErr := session.ReplaceHealth(ctx, s.store, row.ID, who.Health); healthErr != nil {
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
		session.MarkConnected(r, now)
		r.Proved = true
		r.RemoteID, r.RemoteName, r.RemoteBiz = text.Sanitize(who.ID), text.Sanitize(who.Name), text.Sanitize(who.VerifiedBizName)
		session.ApplyIssue(r, nil, session.Worst(session.Issues(who.Health, now)), now)
	})
	if txErr != nil {
		return nil, txErr
	}
	s.referencesChanged()
	return row, nil
}

// setState changes a reference's session and says so when its state changed.
// action is what a user asked for; "": none did.
func (s *Service) setState(ctx context.Context, id provider.ReferenceID, action audit.Action, change func(*store.Reference)) (*store.Reference, error) {
	var row *store.Reference
	err := s.db.InTx(ctx, func(tx *database.Tx) (err error) {
		u := s.store.Begin(tx)
		if row, err = store.LockReference(ctx, u, id); err != nil {
			return err
		}
		before := *row
		change(row)
		if err := session.Save(ctx, u, row, before); err != nil {
			return err
		}
		if action != "" {
			if err := recordReferenceTx(ctx, tx, action, row, nil); err != nil {
				return err
			}
		}
		return u.Flush(ctx)
	})
	return row, err
}

// connect asks for a connection of a reference. It is linked by a QR code when
// phone is "".
func (a *Sessions) connect(ctx context.Context, row *store.Reference, phone string) (Session, error) {
	err := a.s.store.InBatch(ctx, func(u *store.Batch) (err error) {
		if row, err = store.LockReference(ctx, u, row.ID); err != nil {
			return err
		}
		before := *row
		if !alive(row) {
			row.State, row.ConnectedUS = StateStarting, 0
			row.ErrorCode, row.ErrorMessage, row.ErrorUS, row.ErrorRetryUS = "", "", 0, 0
		}
		if err := session.Save(ctx, u, row, before); err != nil {
			return err
		}
		if err := recordReferenceTx(ctx, u.Tx, audit.ReferenceConnect, row, nil); err != nil {
			return err
		}
		return connection.DesireConnected(ctx, u, row, phone)
	})
	if err != nil {
		return Session{}, err
	}
	a.s.connections.Notify()
	return session.View(row, a.s.now()), nil
}

// alive reports whether a reference stands, or is on its way to.
func alive(r *store.Reference) bool {
	return r.State != StateFailed && r.State != StateLoggedOut && r.State != StateStopped
}
