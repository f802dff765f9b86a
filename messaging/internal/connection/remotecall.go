package connection

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// remotePickupTimeout is how long a caller waits until a node that has the reference
	// takes a remote call up. Another node has the references of a node that died by then.
	remotePickupTimeout = 15 * time.Second
	// RemoteCallTTL bounds how late a remote call is begun, how long its answer is
	// waited for, and how long one is kept whose sender died while it waited.
	RemoteCallTTL = time.Minute
	// remotePollInterval is how often the answer is looked for beside the wake-ups.
	remotePollInterval = 250 * time.Millisecond
	remoteCallTopic    = "messaging_remote_call"
)

// remoteCall is a call to a network whose caller waits, on another
// node than the one that has the reference.
type remoteCall struct {
	Call    remoteMethod               `json:"call"`
	Subject string                     `json:"subject,omitempty"`
	Chat    provider.Address           `json:"chat"`
	Who     []provider.Address         `json:"who,omitempty"`
	Change  provider.ParticipantChange `json:"change,omitempty"`
	Reset   bool                       `json:"reset,omitempty"`
	CallID  string                     `json:"callId,omitempty"`
	Passkey *provider.PasskeyAnswer    `json:"passkey,omitempty"`
}

type remoteMethod string

const (
	callNumber       remoteMethod = "number"
	callCreateGroup  remoteMethod = "create_group"
	callGroup        remoteMethod = "group"
	callSubject      remoteMethod = "subject"
	callParticipants remoteMethod = "participants"
	callInvite       remoteMethod = "invite"
	callLeave        remoteMethod = "leave"
	callReject       remoteMethod = "reject_call"
	callPasskey      remoteMethod = "answer_passkey"
	callPasskeyCode  remoteMethod = "confirm_passkey"
)

// remoteAnswer is what came of a remote call.
type remoteAnswer struct {
	Number  provider.NumberCheck          `json:"number"`
	Group   provider.Group                `json:"group"`
	Refused []provider.RefusedParticipant `json:"refused,omitempty"`
	Link    string                        `json:"link,omitempty"`
	Error   *remoteError                  `json:"error,omitempty"`
}

// forwarder makes calls for a reference that is not connected here: it has them made
// where the reference is.
type forwarder struct {
	manager *Manager
	ref     provider.ReferenceID
}

var (
	_ provider.NumberChecker = forwarder{}
	_ provider.GroupManager  = forwarder{}
	_ provider.CallRejecter  = forwarder{}
	_ provider.PasskeyLinker = forwarder{}
)

func (f forwarder) CheckNumber(ctx context.Context, who provider.Address) (provider.NumberCheck, error) {
	a, err := f.manager.callRemote(ctx, f.ref, remoteCall{Call: callNumber, Chat: who})
	return a.Number, err
}

func (f forwarder) CreateGroup(ctx context.Context, subject string, who []provider.Address) (provider.Group, error) {
	a, err := f.manager.callRemote(ctx, f.ref, remoteCall{Call: callCreateGroup, Subject: subject, Who: who})
	return a.Group, err
}

func (f forwarder) Group(ctx context.Context, chat provider.Address) (provider.Group, error) {
	a, err := f.manager.callRemote(ctx, f.ref, remoteCall{Call: callGroup, Chat: chat})
	return a.Group, err
}

func (f forwarder) SetGroupSubject(ctx context.Context, chat provider.Address, subject string) error {
	_, err := f.manager.callRemote(ctx, f.ref, remoteCall{Call: callSubject, Chat: chat, Subject: subject})
	return err
}

func (f forwarder) ChangeParticipants(ctx context.Context, chat provider.Address, change provider.ParticipantChange, who []provider.Address) ([]provider.RefusedParticipant, error) {
	a, err := f.manager.callRemote(ctx, f.ref, remoteCall{Call: callParticipants, Chat: chat, Change: change, Who: who})
	return a.Refused, err
}

func (f forwarder) GroupInvite(ctx context.Context, chat provider.Address, reset bool) (string, error) {
	a, err := f.manager.callRemote(ctx, f.ref, remoteCall{Call: callInvite, Chat: chat, Reset: reset})
	return a.Link, err
}

func (f forwarder) LeaveGroup(ctx context.Context, chat provider.Address) error {
	_, err := f.manager.callRemote(ctx, f.ref, remoteCall{Call: callLeave, Chat: chat})
	return err
}

func (f forwarder) RejectCall(ctx context.Context, chat provider.Address, callID string) error {
	_, err := f.manager.callRemote(ctx, f.ref, remoteCall{Call: callReject, Chat: chat, CallID: callID})
	return err
}

func (f forwarder) AnswerPasskey(ctx context.Context, answer provider.PasskeyAnswer) error {
	_, err := f.manager.callRemote(ctx, f.ref, remoteCall{Call: callPasskey, Passkey: &answer})
	return err
}

func (f forwarder) ConfirmPasskey(ctx context.Context) error {
	_, err := f.manager.callRemote(ctx, f.ref, remoteCall{Call: callPasskeyCode})
	return err
}

// callRemote has a call made and waits for its answer, whose errors are those of
// the call. When no node begins with it in time, it is an [*Error] and will not
// be made.
func (m *Manager) callRemote(ctx context.Context, ref provider.ReferenceID, e remoteCall) (remoteAnswer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changed := m.Store.DB.Listen(ctx, remoteCallTopic)
	id, err := m.enqueueRemoteCall(ctx, ref, e)
	if err != nil {
		return remoteAnswer{}, fmt.Errorf("sending a remote call: %w", err)
	}
	defer m.deleteRemoteCall(ctx, id)
	poll, pickup, late := time.NewTicker(remotePollInterval), time.NewTimer(remotePickupTimeout), time.NewTimer(RemoteCallTTL)
	defer poll.Stop()
	defer pickup.Stop()
	defer late.Stop()
	for {
		answer, err := m.remoteAnswer(ctx, id)
		if answer != nil {
			return *answer, answer.Error.restore()
		}
		if err != nil {
			return remoteAnswer{}, fmt.Errorf("waiting for a remote call: %w", err)
		}
		select {
		case <-changed:
		case <-poll.C:
		case <-pickup.C:
			withdrawn, err := m.withdrawRemoteCall(ctx, id)
			if err != nil {
				return remoteAnswer{}, err
			}
			if withdrawn {
				return remoteAnswer{}, &payload.Error{Code: payload.CodeSessionNotConnected, Message: "The reference is not connected now. Its session has the reason."}
			}
		case <-late.C:
			return remoteAnswer{}, &provider.Ambiguous{Err: remoteNetworkError(remoteInterrupted)}
		case <-ctx.Done():
			return remoteAnswer{}, ctx.Err()
		}
	}
}

// enqueueRemoteCall queues a remote call.
func (m *Manager) enqueueRemoteCall(ctx context.Context, ref provider.ReferenceID, e remoteCall) (id int64, err error) {
	err = m.Store.DB.InTx(ctx, func(tx *database.Tx) error {
		err := tx.GetContext(ctx, &id, `INSERT INTO messaging_remote_call (reference, request, answer, started_us, created_us)
			VALUES ($1, $2, '', 0, `+m.Store.DB.Dialect.Now()+`) RETURNING id`, ref, string(payload.MustEncode(e)))
		if err != nil {
			return err
		}
		return m.Store.Sends.PutTx(ctx, tx, queue.JobArgs{Subscriber: store.Subscriber(ref), Key: remoteCallKey(ref), Subject: remoteCallSubject(id)})
	})
	return id, err
}

func remoteCallSubject(id int64) string { return "remote call:" + strconv.FormatInt(id, 10) }

// remoteCallKey keeps a reference's remote calls in order.
func remoteCallKey(ref provider.ReferenceID) string { return store.Subscriber(ref) + ":remote call" }

// remoteAnswer is nil while there is none.
func (m *Manager) remoteAnswer(ctx context.Context, id int64) (*remoteAnswer, error) {
	var text string
	err := m.Store.DB.GetContext(ctx, &text, `SELECT answer FROM messaging_remote_call WHERE id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payload.ErrNotFound // the reference was deleted
	}
	if err != nil || text == "" {
		return nil, err
	}
	a := &remoteAnswer{}
	if err := json.Unmarshal([]byte(text), a); err != nil {
		return nil, err
	}
	return a, nil
}

// withdrawRemoteCall takes back a remote call that no node has begun.
func (m *Manager) withdrawRemoteCall(ctx context.Context, id int64) (done bool, err error) {
	err = m.Store.DB.Write(ctx, func(tx *database.Tx) error {
		res, err := tx.ExecContext(ctx, `DELETE FROM messaging_remote_call WHERE id = $1 AND started_us = 0`, id)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		done = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("withdrawing a remote call: %w", err)
	}
	return done, nil
}

// deleteRemoteCall forgets a remote call whose caller has gone.
func (m *Manager) deleteRemoteCall(ctx context.Context, id int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CloseTimeout)
	defer cancel()
	err := m.Store.DB.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM messaging_remote_call WHERE id = $1`, id)
		return err
	})
	if err != nil {
		m.Logger.WarnContext(ctx, "forgetting a remote call", slog.Any("error", err))
	}
}
