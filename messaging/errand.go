package messaging

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// errandPickup is how long somebody waits until a node that has the line
	// takes an errand up. Lines of a node that died are with another by then.
	errandPickup = 15 * time.Second
	// errandLife bounds how late an errand is begun, how long its answer is
	// waited for, and how long one is kept whose sender died while it waited.
	errandLife = time.Minute
	// errandPoll is how often the answer is looked for beside the wake-ups.
	errandPoll  = 250 * time.Millisecond
	errandTopic = "messaging_errand"
)

// errand is a call to a network whose answer somebody waits for, on another
// node than the one that has the line.
type errand struct {
	Call    errandCall                 `json:"call"`
	Subject string                     `json:"subject,omitempty"`
	Chat    provider.Address           `json:"chat"`
	Who     []provider.Address         `json:"who,omitempty"`
	Change  provider.ParticipantChange `json:"change,omitempty"`
	Reset   bool                       `json:"reset,omitempty"`
}

type errandCall string

const (
	callNumber       errandCall = "number"
	callCreateGroup  errandCall = "create_group"
	callGroup        errandCall = "group"
	callSubject      errandCall = "subject"
	callParticipants errandCall = "participants"
	callInvite       errandCall = "invite"
	callLeave        errandCall = "leave"
)

// errandAnswer is what came of an errand.
type errandAnswer struct {
	Number  provider.NumberCheck          `json:"number"`
	Group   provider.Group                `json:"group"`
	Refused []provider.RefusedParticipant `json:"refused,omitempty"`
	Link    string                        `json:"link,omitempty"`
	Error   *errandError                  `json:"error,omitempty"`
}

// elsewhere makes calls for a line that is not connected here: it has them made
// where the line is.
type elsewhere struct {
	s   *Service
	ref provider.ReferenceID
}

var (
	_ provider.NumberChecker = elsewhere{}
	_ provider.GroupManager  = elsewhere{}
)

func (e elsewhere) CheckNumber(ctx context.Context, who provider.Address) (provider.NumberCheck, error) {
	a, err := e.s.errand(ctx, e.ref, errand{Call: callNumber, Chat: who})
	return a.Number, err
}

func (e elsewhere) CreateGroup(ctx context.Context, subject string, who []provider.Address) (provider.Group, error) {
	a, err := e.s.errand(ctx, e.ref, errand{Call: callCreateGroup, Subject: subject, Who: who})
	return a.Group, err
}

func (e elsewhere) Group(ctx context.Context, chat provider.Address) (provider.Group, error) {
	a, err := e.s.errand(ctx, e.ref, errand{Call: callGroup, Chat: chat})
	return a.Group, err
}

func (e elsewhere) SetGroupSubject(ctx context.Context, chat provider.Address, subject string) error {
	_, err := e.s.errand(ctx, e.ref, errand{Call: callSubject, Chat: chat, Subject: subject})
	return err
}

func (e elsewhere) ChangeParticipants(ctx context.Context, chat provider.Address, change provider.ParticipantChange, who []provider.Address) ([]provider.RefusedParticipant, error) {
	a, err := e.s.errand(ctx, e.ref, errand{Call: callParticipants, Chat: chat, Change: change, Who: who})
	return a.Refused, err
}

func (e elsewhere) GroupInvite(ctx context.Context, chat provider.Address, reset bool) (string, error) {
	a, err := e.s.errand(ctx, e.ref, errand{Call: callInvite, Chat: chat, Reset: reset})
	return a.Link, err
}

func (e elsewhere) LeaveGroup(ctx context.Context, chat provider.Address) error {
	_, err := e.s.errand(ctx, e.ref, errand{Call: callLeave, Chat: chat})
	return err
}

// errand has a call made and waits for its answer, whose errors are those of
// the call. When no node begins with it in time, it is an [*Error] and will not
// be made.
func (s *Service) errand(ctx context.Context, ref provider.ReferenceID, e errand) (errandAnswer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wake := s.db.Listen(ctx, errandTopic)
	id, err := s.putErrand(ctx, ref, e)
	if err != nil {
		return errandAnswer{}, fmt.Errorf("sending an errand: %w", err)
	}
	defer s.dropErrand(ctx, id)
	poll, pickup, late := time.NewTicker(errandPoll), time.NewTimer(errandPickup), time.NewTimer(errandLife)
	defer poll.Stop()
	defer pickup.Stop()
	defer late.Stop()
	for {
		answer, err := s.errandAnswer(ctx, id)
		if answer != nil {
			return *answer, answer.Error.restore()
		}
		if err != nil {
			return errandAnswer{}, fmt.Errorf("waiting for an errand: %w", err)
		}
		select {
		case <-wake:
		case <-poll.C:
		case <-pickup.C:
			withdrawn, err := s.withdraw(ctx, id)
			if err != nil {
				return errandAnswer{}, err
			}
			if withdrawn {
				return errandAnswer{}, &Error{Code: CodeSessionNotConnected, Message: "The line is not connected at present. Its session says how it stands."}
			}
		case <-late.C:
			return errandAnswer{}, &provider.Ambiguous{Err: saidElsewhere(errandCut)}
		case <-ctx.Done():
			return errandAnswer{}, ctx.Err()
		}
	}
}

// putErrand queues an errand.
func (s *Service) putErrand(ctx context.Context, ref provider.ReferenceID, e errand) (id int64, err error) {
	err = s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		err := tx.GetContext(ctx, &id, `INSERT INTO messaging_errand (reference, request, answer, started_us, created_us)
			VALUES ($1, $2, '', 0, $3) RETURNING id`, ref, string(mustJSON(e)), database.Micros(s.now()))
		if err != nil {
			return err
		}
		return s.sends.PutTx(ctx, tx, queue.JobArgs{Subscriber: subscriber(ref), Key: errandKey(ref), Subject: errandSubject(id)})
	})
	if err == nil {
		s.sends.Notify()
	}
	return id, err
}

func errandSubject(id int64) string { return "errand:" + strconv.FormatInt(id, 10) }

// errandKey keeps a line's errands in order.
func errandKey(ref provider.ReferenceID) string { return subscriber(ref) + ":errand" }

// errandAnswer is nil while there is none.
func (s *Service) errandAnswer(ctx context.Context, id int64) (*errandAnswer, error) {
	var text string
	err := s.db.GetContext(ctx, &text, `SELECT answer FROM messaging_errand WHERE id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound // the line was deleted
	}
	if err != nil || text == "" {
		return nil, err
	}
	a := &errandAnswer{}
	if err := json.Unmarshal([]byte(text), a); err != nil {
		return nil, err
	}
	return a, nil
}

// withdraw takes back an errand that no node has begun.
func (s *Service) withdraw(ctx context.Context, id int64) (done bool, err error) {
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
		return false, fmt.Errorf("withdrawing an errand: %w", err)
	}
	return done, nil
}

// dropErrand forgets an errand for whose answer nobody waits any more.
func (s *Service) dropErrand(ctx context.Context, id int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`DELETE FROM messaging_errand WHERE id = $1`, id)
		return err
	})
	if err != nil {
		s.opts.Logger.WarnContext(ctx, "forgetting an errand", slogError(err))
	}
}
