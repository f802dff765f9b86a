package connection

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// remoteCallRow is a remote call as its table has it.
type remoteCallRow struct {
	Reference provider.ReferenceID `db:"reference"`
	Request   string               `db:"request"`
	StartedUS int64                `db:"started_us"`
	AgeUS     int64                `db:"age_us"` // by the clock of the database
}

// HandleRemoteCall makes a call for another node. A call that changes something is
// made once: of one that was begun by a node which died it is not known whether it
// was made.
func (m *Manager) HandleRemoteCall(ctx context.Context, it queue.Job, id int64) queue.Outcome {
	done := queue.Outcome{Job: it, Result: queue.Done}
	later := queue.Outcome{Job: it, Result: queue.Retry, After: NotHereRetryDelay}
	var row remoteCallRow
	err := m.Store.DB.GetContext(ctx, &row, `SELECT reference, request, started_us, `+m.Store.DB.Dialect.Now()+` - created_us AS age_us
		FROM messaging_remote_call WHERE id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		return done // the caller has gone
	}
	if err == nil && time.Duration(row.AgeUS)*time.Microsecond > RemoteCallTTL {
		return done
	}
	var answer remoteAnswer
	if err == nil {
		answer, err = m.executeRemoteCall(ctx, id, row)
	}
	if err == nil {
		err = m.storeRemoteAnswer(ctx, id, answer)
	}
	if err == nil {
		return done
	}
	if !errors.Is(err, refusal.ErrNotHere) {
		m.Logger.WarnContext(ctx, "running a remote call", slog.Any("error", err))
	}
	return later
}

// executeRemoteCall makes the call. An error means that there is no answer yet.
func (m *Manager) executeRemoteCall(ctx context.Context, id int64, row remoteCallRow) (remoteAnswer, error) {
	var e remoteCall
	if err := json.Unmarshal([]byte(row.Request), &e); err != nil {
		return remoteAnswer{Error: &remoteError{Kind: remoteUncertain}}, nil //nolint:nilerr // of another version: it will not get better
	}
	if m.starts.Began(id, row.StartedUS) && !e.isRepeatable() {
		return remoteAnswer{Error: &remoteError{Kind: remoteUncertain, Message: remoteInterrupted}}, nil
	}
	sess, err := m.leases.session(row.Reference)
	if err != nil {
		return remoteAnswer{}, err
	}
	if began, err := m.beginRemoteCall(ctx, id, row); err != nil || !began {
		return remoteAnswer{}, err
	}
	calling, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	answer, err := e.run(calling, sess)
	answer.Error = encodeRemoteError(err)
	return answer, nil
}

// isRepeatable reports whether the call may be made again: it changes nothing, or
// nothing more the second time.
func (c remoteCall) isRepeatable() bool {
	return c.Call == callNumber || c.Call == callGroup || c.Call == callReject || c.Call == callInvite && !c.Reset
}

// beginRemoteCall notes durably that the call is about to be made, or reports that
// it was withdrawn, or begun elsewhere.
func (m *Manager) beginRemoteCall(ctx context.Context, id int64, row remoteCallRow) (began bool, err error) {
	note, _ := m.starts.Note(id, database.Micros(m.Store.Now()))
	err = m.Store.DB.Write(ctx, func(tx *database.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE messaging_remote_call SET started_us = $1 WHERE id = $2 AND started_us = $3`, note, id, row.StartedUS)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		began = n == 1
		return err
	})
	m.starts.Written(id, note, err)
	return began, err
}

// storeRemoteAnswer stores what came of a remote call, for a caller that still waits.
func (m *Manager) storeRemoteAnswer(ctx context.Context, id int64, a remoteAnswer) error {
	text := string(payload.MustEncode(a))
	err := m.Store.DB.Write(context.WithoutCancel(ctx), func(tx *database.Tx) error {
		tx.NotifyAfter(remoteCallTopic)
		_, err := tx.ExecContext(ctx, `UPDATE messaging_remote_call SET answer = $1 WHERE id = $2`, text, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("storing the answer of a remote call: %w", err)
	}
	return nil
}

// run makes the call on a session.
func (c remoteCall) run(ctx context.Context, sess provider.Session) (a remoteAnswer, err error) {
	switch c.Call {
	case callNumber:
		checker, ok := sess.(provider.NumberChecker)
		if !ok {
			return a, &provider.Unsupported{What: "looking numbers up"}
		}
		a.Number, err = checker.CheckNumber(ctx, c.Chat)
		return a, err
	case callReject:
		rejecter, ok := sess.(provider.CallRejecter)
		if !ok {
			return a, &provider.Unsupported{What: "rejecting calls"}
		}
		return a, rejecter.RejectCall(ctx, c.Chat, c.CallID)
	case callPasskey, callPasskeyCode:
		return a, c.runPasskey(ctx, sess)
	}
	return c.runGroup(ctx, sess)
}

// runPasskey makes the call if it is about a passkey.
func (c remoteCall) runPasskey(ctx context.Context, sess provider.Session) error {
	linker, ok := sess.(provider.PasskeyLinker)
	switch {
	case !ok:
		return &provider.Unsupported{What: "linking with a passkey"}
	case c.Call == callPasskeyCode:
		return linker.ConfirmPasskey(ctx)
	case c.Passkey == nil:
		return &provider.Unsupported{What: string(c.Call)}
	}
	return linker.AnswerPasskey(ctx, *c.Passkey)
}

// runGroup makes the call if it is about groups.
func (c remoteCall) runGroup(ctx context.Context, sess provider.Session) (a remoteAnswer, err error) {
	m, ok := sess.(provider.GroupManager)
	if !ok {
		return a, &provider.Unsupported{What: "managing groups"}
	}
	switch c.Call {
	case callCreateGroup:
		a.Group, err = m.CreateGroup(ctx, c.Subject, c.Who)
	case callGroup:
		a.Group, err = m.Group(ctx, c.Chat)
	case callSubject:
		err = m.SetGroupSubject(ctx, c.Chat, c.Subject)
	case callParticipants:
		a.Refused, err = m.ChangeParticipants(ctx, c.Chat, c.Change, c.Who)
	case callInvite:
		a.Link, err = m.GroupInvite(ctx, c.Chat, c.Reset)
	case callLeave:
		err = m.LeaveGroup(ctx, c.Chat)
	default: // of a newer version
		err = &provider.Unsupported{What: string(c.Call)}
	}
	return a, err
}

// remoteError is an error of package provider on its way between nodes.
type remoteError struct {
	Kind    string        `json:"kind"`
	Code    string        `json:"code,omitempty"`
	Message string        `json:"message,omitempty"` // or what is unsupported, or is invalid
	Advice  string        `json:"advice,omitempty"`
	After   time.Duration `json:"after,omitempty"`
}

// remoteInterrupted is what the caller reads of a call in the middle of which the node
// died that made it.
const remoteInterrupted = "The server that was connected ended while it waited for the network. Check whether the request took effect before you repeat it."

// Kinds of remoteError.
const (
	remoteLimited     = "limited"
	remoteWindow      = "window"
	remoteRecipient   = "recipient"
	remoteAuth        = "auth"
	remoteUnsupported = "unsupported"
	remoteInvalid     = "invalid"
	remoteRejected    = "rejected"
	remoteTemporary   = "temporary"
	remoteUncertain   = "doubt"
)

// encodeRemoteError makes an error ready for the way. nil stays nil.
func encodeRemoteError(err error) *remoteError {
	if err == nil {
		return nil
	}
	var (
		limited     *provider.RateLimited
		window      *provider.WindowClosed
		recipient   *provider.BadRecipient
		auth        *provider.AuthExpired
		unsupported *provider.Unsupported
		invalid     *provider.Invalid
		rejected    *provider.Rejected
		temporary   *provider.Temporary
		spoken      interface{ Text() string }
	)
	switch {
	case errors.As(err, &limited):
		return &remoteError{remoteLimited, limited.Code, limited.Message, limited.Advice, limited.After}
	case errors.As(err, &window):
		return &remoteError{remoteWindow, window.Code, window.Message, window.Advice, 0}
	case errors.As(err, &recipient):
		return &remoteError{remoteRecipient, recipient.Code, recipient.Message, recipient.Advice, 0}
	case errors.As(err, &auth):
		return &remoteError{remoteAuth, auth.Code, auth.Message, auth.Advice, 0}
	case errors.As(err, &unsupported):
		return &remoteError{Kind: remoteUnsupported, Message: unsupported.What}
	case errors.As(err, &invalid):
		return &remoteError{Kind: remoteInvalid, Code: invalid.Field, Message: invalid.Message}
	case errors.As(err, &rejected):
		return &remoteError{remoteRejected, rejected.Code, rejected.Message, rejected.Advice, 0}
	}
	out := &remoteError{Kind: remoteUncertain}
	if errors.As(err, &temporary) {
		out.Kind, out.After = remoteTemporary, temporary.After
	}
	if errors.As(err, &spoken) {
		out.Message = spoken.Text()
	}
	return out
}

// restore is the error as it was; nil makes none.
func (e *remoteError) restore() error {
	if e == nil {
		return nil
	}
	switch e.Kind {
	case remoteLimited:
		return &provider.RateLimited{Code: e.Code, Message: e.Message, Advice: e.Advice, After: e.After}
	case remoteWindow:
		return &provider.WindowClosed{Code: e.Code, Message: e.Message, Advice: e.Advice}
	case remoteRecipient:
		return &provider.BadRecipient{Code: e.Code, Message: e.Message, Advice: e.Advice}
	case remoteAuth:
		return &provider.AuthExpired{Code: e.Code, Message: e.Message, Advice: e.Advice}
	case remoteUnsupported:
		return &provider.Unsupported{What: e.Message}
	case remoteInvalid:
		return &provider.Invalid{Field: e.Code, Message: e.Message}
	case remoteRejected:
		return &provider.Rejected{Code: e.Code, Message: e.Message, Advice: e.Advice}
	case remoteTemporary:
		return &provider.Temporary{Err: remoteNetworkError(e.Message), After: e.After}
	}
	return &provider.Ambiguous{Err: remoteNetworkError(e.Message)}
}

// remoteNetworkError is what a network said to another node, or "".
type remoteNetworkError string

func (e remoteNetworkError) Error() string { return "messaging: on the line's node: " + string(e) }

// Text is what the network said.
func (e remoteNetworkError) Text() string { return string(e) }
