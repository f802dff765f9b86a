package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/periodic"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/extractor/intent"
	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	trainTopic    = "extractor.train"
	trainInterval = 10 * time.Minute // in case nothing is found to be due
	// trainLease is how long a claim on an extractor lasts after its node has died.
	trainLease = 10 * time.Second
)

// train learns intents, one extractor after the other, until ctx ends. Any node may
// then continue unfinished training.
func (s *Service) train(ctx context.Context) error {
	due := s.db.Due(ctx, trainTopic, func(first int, ahead time.Duration) (string, []any) {
		return fmt.Sprintf(`SELECT 1 FROM extractor_item WHERE training = 'training' AND claim_us <= $%d`, first), []any{database.Micros(s.opts.Now().Add(ahead))}
	})
	freed := !s.opts.Exclusive
	return periodic.Run(ctx, trainInterval, due, s.opts.Logger, "learning intents; it is tried again", func(ctx context.Context) error {
		if !freed {
			if err := s.free(ctx); err != nil {
				return err
			}
			freed = true
		}
		return s.trainAll(ctx)
	})
}

// free releases the claims of a process that was killed.
func (s *Service) free(ctx context.Context) error {
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE extractor_item SET claim_us = 0 WHERE training = 'training'`)
		return err
	})
	if err != nil {
		return fmt.Errorf("freeing what a predecessor trained: %w", err)
	}
	return nil
}

// trainAll trains until no extractor is waiting.
func (s *Service) trainAll(ctx context.Context) error {
	for {
		r, err := s.claim(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.trainOne(ctx, r); err != nil {
			return err
		}
	}
}

// claim claims the extractor that has waited longest. It returns [sql.ErrNoRows] if
// none is waiting.
func (s *Service) claim(ctx context.Context) (row, error) {
	var r row
	id, err := uuid.NewV7()
	if err != nil {
		return r, fmt.Errorf("making an id: %w", err)
	}
	skip := ""
	if s.db.Dialect == database.Postgres {
		skip = " FOR UPDATE SKIP LOCKED"
	}
	var waiting bool
	now := s.now()
	err = s.db.GetContext(ctx, &waiting, `SELECT EXISTS (SELECT 1 FROM extractor_item WHERE training = 'training' AND claim_us <= $1)`, database.Micros(now))
	if err == nil && !waiting {
		err = sql.ErrNoRows
	}
	if err != nil {
		return r, err
	}
	err = s.db.InTx(ctx, func(tx *database.Tx) error {
		return tx.GetContext(ctx, &r, `UPDATE extractor_item SET claim = $1, claim_us = $2 WHERE number = (SELECT number FROM extractor_item
			WHERE training = 'training' AND claim_us <= $3 ORDER BY updated_us, number LIMIT 1`+skip+`) RETURNING `+columns,
			id.String(), database.Micros(now.Add(trainLease)), database.Micros(now))
	})
	return r, err
}

// trainOne learns the intents of an extractor and stores the model, unless the
// intents have changed meanwhile or another node has claimed them.
func (s *Service) trainOne(ctx context.Context, r row) error {
	ctx, lost := context.WithCancel(ctx)
	defer lost()
	go s.keepClaim(ctx, r, lost)
	body, failed := learn(ctx, r)
	if ctx.Err() != nil {
		return s.giveBack(context.WithoutCancel(ctx), r)
	}
	s.opts.BeforeTrained()
	err := s.db.InTx(ctx, func(tx *database.Tx) error {
		// Not changedTx: it would create the account again while it is being
		// erased.
		if _, err := tx.ExecContext(ctx, `UPDATE extractor_account SET revision = revision + 1 WHERE account = $1`, r.Account); err != nil {
			return err
		}
		state, why := Ready, ""
		if failed != nil {
			state, why = Failed, failed.Error()
		}
		res, err := tx.ExecContext(ctx, `UPDATE extractor_item SET training = $1, training_error = $2, claim = '', claim_us = 0
			WHERE id = $3 AND claim = $4 AND revision = $5 AND training = 'training'`, state, why, r.ID, r.Claim, r.Revision)
		if err != nil || failed != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO extractor_model (extractor, revision, body) VALUES ($1, $2, $3)
			ON CONFLICT (extractor) DO UPDATE SET revision = excluded.revision, body = excluded.body`, r.ID, r.Revision, body)
		return err
	})
	if err != nil {
		return fmt.Errorf("storing what was learned: %w", err)
	}
	return nil
}

// learn trains the model of an extractor's intents.
func learn(ctx context.Context, r row) (string, error) {
	var config IntentConfig
	if err := json.Unmarshal([]byte(r.Config), &config); err != nil {
		return "", fmt.Errorf("reading intents: %w", err)
	}
	m, err := intent.Train(ctx, config.Intents)
	if err != nil {
		return "", fmt.Errorf("learning intents: %w", err)
	}
	raw, err := m.MarshalBinary()
	if err != nil {
		return "", fmt.Errorf("writing what was learned: %w", err)
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

// keepClaim renews the claim of this node until ctx ends. It calls lost when the
// claim is gone.
func (s *Service) keepClaim(ctx context.Context, r row, lost func()) {
	tick := time.NewTicker(trainLease / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var n int64
		err := s.db.Write(ctx, func(tx *database.Tx) error {
			res, err := tx.ExecContext(ctx, `UPDATE extractor_item SET claim_us = $1 WHERE id = $2 AND claim = $3 AND training = 'training'`,
				database.Micros(s.now().Add(trainLease)), r.ID, r.Claim)
			if err == nil {
				n, err = res.RowsAffected()
			}
			return err
		})
		if err == nil && n == 0 {
			lost() // changed or deleted: the training is of no use
		}
	}
}

// giveBack releases the claim, so that another node can train at once.
func (s *Service) giveBack(ctx context.Context, r row) error {
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE extractor_item SET claim_us = 0 WHERE id = $1 AND claim = $2`, r.ID, r.Claim)
		return err
	})
	if err != nil {
		return fmt.Errorf("giving back what was to be learned: %w", err)
	}
	return nil
}

// relearn marks an extractor for training.
func (a *Account) relearn(ctx context.Context, id string) error {
	err := a.s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE extractor_item SET training = 'training', claim = '', claim_us = 0 WHERE id = $1 AND account = $2 AND training <> 'training'`, id, a.id)
		return err
	})
	if err != nil {
		return fmt.Errorf("marking intents for training: %w", err)
	}
	a.s.db.Notify(trainTopic)
	return nil
}
