package messaging

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging/media"
)

// ErrOtherMedia reports a library that is not the one that the other processes
// on the database use: they would not find each other's files.
var ErrOtherMedia = errors.New("messaging: the files of this database are kept elsewhere")

// checkLibrary makes sure that processes on one database share their files: a
// file that the first has put into its library must be there for all.
func (s *Service) checkLibrary(ctx context.Context) error {
	id, err := s.markOfLibrary(ctx)
	if err != nil {
		return err
	}
	if id == "" {
		if id, err = s.markLibrary(ctx); err != nil {
			return fmt.Errorf("marking the library: %w", err)
		}
	}
	obj, err := s.opts.Media.Open(ctx, id)
	if errors.Is(err, media.ErrNotFound) {
		return ErrOtherMedia
	}
	if err != nil {
		return fmt.Errorf("looking into the library: %w", err)
	}
	return obj.Close()
}

// markOfLibrary is the id of the file that the library must have, or "".
func (s *Service) markOfLibrary(ctx context.Context) (string, error) {
	var ids []string
	if err := s.db.SelectContext(ctx, &ids, `SELECT media FROM messaging_library`); err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

// markLibrary puts the mark into the library, unless another process is faster,
// and returns the one that counts.
func (s *Service) markLibrary(ctx context.Context) (string, error) {
	f, err := s.opts.Media.Save(ctx, strings.NewReader("The library of a Trunkline database.\n"), media.Upload{})
	if err != nil {
		return "", err
	}
	err = s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO messaging_library (one, media) VALUES (1, $1) ON CONFLICT DO NOTHING`, f.ID)
		return err
	})
	if err != nil {
		return "", err
	}
	id, err := s.markOfLibrary(ctx)
	if err == nil && id != f.ID {
		err = s.opts.Media.Delete(ctx, f.ID)
	}
	return id, err
}
