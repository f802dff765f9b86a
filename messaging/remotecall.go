package messaging

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// remotePickupTimeout is how long somebody waits until a node that has the reference
	// takes a remote call up. Lines of a node that died are with another by then.
	remotePickupTimeout = 15 * time.Second
	// remoteCallTTL bounds how late a remote call is begun, how long its answer is
	// waited for, and how long one is kept whose sender died while it waited.
	remoteCallTTL = time.Minute
	// remotePollInterval is how often the answer is looked for beside the wake-ups.
	remotePollInterval = 250 * time.Millisecond
	remoteCallTopic    = "messaging_errand"
)

// remoteCall is a call to a network whose answer somebody waits for, on another
// node than the one that has the reference.
type remoteCall struct {
	Call    remoteMethod               `json:"call"`
	Subject string                     `json:"subject,omitempty"`
	Chat    provider.Address           `json:"chat"`
	Who     []provider.Address         `json:"who,omitempty"`
	Change  provider.ParticipantChange `json:"change,omitempty"`
	Reset   bool                       `json:"reset,omitempty"`
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
	s   *Service
	ref provider.ReferenceID
}

var (
	_ provider.NumberChecker = forwarder{}
	_ provider.GroupManager  = forwarder{}
)

func (e forwarder) CheckNumber(ctx context.Context, who provider.Address) (provider.NumberCheck, error) {
	a, err := e.s.callRemote(ctx, e.ref, remoteCall{Call: callNumber, Chat: who})
	return a.Number, err
}

func (e forwarder) CreateGroup(ctx context.Context, subject string, who []provider.Address) (provider.Group, error) {
	a, err := e.s.callRemote(ctx, e.ref, remoteCall{Call: callCreateGroup, Subject: subject, Who: who})
	return a.Group, err
}

func (e forwarder) Group(ctx context.Context, chat provider.Address) (provider.Group, error) {
	a, err := e.s.callRemote(ctx, e.ref, remoteCall{Call: callGroup, Chat: chat})
	return a.Group, err
}

func (e forwarder) SetGroupSubject(ctx context.Context, chat provider.Address, subject string) error {
	_, err := e.s.callRemote(ctx, e.ref, remoteCall{Call: callSubject, Chat: chat, Subject: subject})
	return err
}

func (e forwarder) ChangeParticipants(ctx context.Context, chat provider.Address, change provider.ParticipantChange, who []provider.Address) ([]provider.RefusedParticipant, error) {
	a, err := e.s.callRemote(ctx, e.ref, remoteCall{Call: callParticipants, Chat: chat, Change: change, Who: who})
	return a.Refused, err
}

func (e forwarder) GroupInvite(ctx context.Context, chat provider.Address, reset bool) (string, error) {
	a, err := e.s.callRemote(ctx, e.ref, remoteCall{Call: callInvite, Chat: chat, Reset: reset})
	return a.Link, err
}

func (e forwarder) LeaveGroup(ctx context.Context, chat provider.Address) error {
	_, err := e.s.callRemote(ctx, e.ref, remoteCall{Call: callLeave, Chat: chat})
	return err
}

// callRemote has a call made and waits for its answer, whose errors are those of
// the call. When no node begins with it in time, it is an [*Error] and will not
// be made.
func (s *Service) callRemote(ctx context.Context, ref provider.ReferenceID, e remoteCall) (remoteAnswer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wake := s.db.Listen(ctx, remoteCallTopic)
	id, err := s.enqueueRemoteCall(ctx, ref, e)
	if err != nil {
		return remoteAnswer{}, fmt.Errorf("sending a remote call: %w", err)
	}
	defer s.deleteRemoteCall(ctx, id)
	poll, pickup, late := time.NewTicker(remotePollInterval), time.NewTimer(remotePickupTimeout), time.NewTimer(remoteCallTTL)
	defer poll.Stop()
	defer pickup.Stop()
	defer late.Stop()
	for {
		answer, err := s.remoteAnswer(ctx, id)
		if answer != nil {
			return *answer, answer.Error.restore()
		}
		if err != nil {
			return remoteAnswer{}, fmt.Errorf("waiting for a remote call: %w", err)
		}
		select {
		case <-wake:
		case <-poll.C:
		case <-pickup.C:
			withdrawn, err := s.withdrawRemoteCall(ctx, id)
			if err != nil {
				return remoteAnswer{}, err
			}
			if withdrawn {
				return remoteAnswer{}, &Error{Code: CodeSessionNotConnected, Message: "The line is not connected at present. Its session says how it stands."}
			}
		case <-late.C:
			return remoteAnswer{}, &provider.Ambiguous{Err: remoteNetworkError(remoteInterrupted)}
		case <-ctx.Done():
			return remoteAnswer{}, ctx.Err()
		}
	}
}

// enqueueRemoteCall queues a remote call.
func (s *Service) enqueueRemoteCall(ctx context.Context, ref provider.ReferenceID, e remoteCall) (id int64, err error) {
	err = s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		err := tx.GetContext(ctx, &id, `INSERT INTO messaging_errand (reference, request, answer, started_us, created_us)
			VALUES ($1, $2, '', 0, $3) RETURNING id`, ref, string(payload.MustEncode(e)), database.Micros(s.now()))
		if err != nil {
			return err
		}
		return s.sends.PutTx(ctx, tx, queue.JobArgs{Subscriber: store.Subscriber(ref), Key: remoteCallKey(ref), Subject: remoteCallSubject(id)})
	})
	if err == nil {
		s.sends.Notify()
	}
	return id, err
}

func remoteCallSubject(id int64) string { return "errand:" + strconv.FormatInt(id, 10) }

// remoteCallKey keeps a reference's remote calls in order.
func remoteCallKey(ref provider.ReferenceID) string { return store.Subscriber(ref) + ":errand" }

// remoteAnswer is nil while there is none.
func (s *Service) remoteAnswer(ctx context.Context, id int64) (*remoteAnswer, error) {
	var text string
	err := s.db.GetContext(ctx, &text, `SELECT answer FROM messaging_errand WHERE id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound // the reference was deleted
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
func (s *Service) withdrawRemoteCall(ctx context.Context, id int64) (done bool, err error) {
	err = s.db.Write(ctx, func(tx *sqlx.Tx) error {
		res, err := tx.Exec(`DELETE FROM messaging_errand WHERE id = $1 AND started_us = 0`, id)
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

// deleteRemoteCall forgets a remote call for whose answer nobody waits any more.
func (s *Service) deleteRemoteCall(ctx context.Context, id int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`DELETE FROM messaging_errand WHERE id = $1`, id)
		return err
	})
	if err != nil {
		s.opts.Logger.WarnContext(ctx, "forgetting a remote call", slog.Any("error", err))
	}
}
