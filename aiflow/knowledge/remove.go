package knowledge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/periodic"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// removedTopic is the topic that is notified when a file is to be removed.
const removedTopic = "knowledge.removed"

const cleanInterval = 30 * time.Second

// Delete deletes a file. It is no longer found when Delete returns; [Service.Run]
// removes its text.
func (a *Account) Delete(ctx context.Context, project, file string) error {
	if uuid.Validate(project) != nil || uuid.Validate(file) != nil {
		return ErrNotFound
	}
	err := a.s.db.Write(ctx, func(tx *database.Tx) error {
		ctx := context.WithoutCancel(ctx)
		var name string
		err := tx.GetContext(ctx, &name, `UPDATE knowledge_file SET ready = FALSE, due_us = 0
			WHERE id = $1 AND project = $2 AND account = $3 AND ready RETURNING name`, file, project, a.id)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.FileDelete, project, file, name)
	})
	if errors.Is(err, ErrNotFound) {
		return err
	}
	if err != nil {
		return fmt.Errorf("deleting a file: %w", err)
	}
	a.s.db.Notify(removedTopic)
	return nil
}

// DeleteAll removes all files of the account. It works in small durable steps, and
// may be called again after an error or a crash.
func (a *Account) DeleteAll(ctx context.Context) error {
	return a.s.removeEach(ctx, `account = $1`, a.id)
}

// abandon gives up storing a file.
func (s *Service) abandon(ctx context.Context, file int64) {
	ctx = context.WithoutCancel(ctx)
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE knowledge_file SET due_us = 0 WHERE number = $1 AND NOT ready`, file)
		return err
	})
	if err != nil {
		s.opts.Logger.WarnContext(ctx, "giving up a file that could not be stored", "error", err)
		return // it is removed after indexTimeout
	}
	s.db.Notify(removedTopic)
}

// Run removes the text of deleted files, of files of deleted projects and of files
// that were not stored completely, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	return periodic.RunActive(ctx, s.db, cleanInterval, s.db.Listen(ctx, removedTopic), s.opts.Logger, "removing files failed", s.Clean)
}

// Clean removes everything that can no longer be found, in small transactions.
// [Service.Run] calls it regularly.
func (s *Service) Clean(ctx context.Context) error {
	if err := s.removeEach(ctx, `NOT ready AND due_us <= $1`, database.Micros(s.opts.Now())); err != nil {
		return err
	}
	return s.removeEach(ctx, `NOT EXISTS (SELECT 1 FROM aiflow_project p WHERE p.id = knowledge_file.project AND NOT p.removed)`)
}

// removeEach removes the files that match a condition.
func (s *Service) removeEach(ctx context.Context, where string, args ...any) error {
	for {
		var files []int64
		err := s.db.SelectContext(ctx, &files, `SELECT number FROM knowledge_file WHERE `+where+` ORDER BY number LIMIT 100`, args...)
		if err != nil {
			return fmt.Errorf("looking for files to remove: %w", err)
		}
		if len(files) == 0 {
			return nil
		}
		for _, file := range files {
			if err := s.remove(ctx, file); err != nil {
				return fmt.Errorf("removing a file: %w", err)
			}
		}
	}
}

// remove removes a file, its row last, so that an interrupted removal can continue.
// Two nodes may remove the same file.
func (s *Service) remove(ctx context.Context, file int64) error {
	for _, q := range []string{
		// No passages are added from now on.
		`UPDATE knowledge_file SET ready = FALSE, due_us = 0 WHERE number = $1 AND (ready OR due_us > 0) AND $2 > 0`,
		`DELETE FROM knowledge_posting WHERE (project, term, file) IN (SELECT project, term, file FROM knowledge_posting WHERE file = $1 LIMIT $2)`,
		`DELETE FROM knowledge_passage WHERE (file, part) IN (SELECT file, part FROM knowledge_passage WHERE file = $1 LIMIT $2)`,
		`DELETE FROM knowledge_file WHERE number = $1 AND NOT ready AND due_us = 0 AND $2 > 0`,
	} {
		if err := s.db.InSteps(ctx, q, file, batchRows); err != nil {
			return err
		}
	}
	return nil
}
