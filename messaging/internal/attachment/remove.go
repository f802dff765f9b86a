package attachment

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/database"
)

// RemoveGone removes from the library what was deleted with a message, a chat
// or a reference. The rows stay until that is done.
func (fs *Files) RemoveGone(ctx context.Context) error {
	if fs.Library == nil {
		return nil
	}
	var ids []any
	if err := fs.Store.DB.SelectContext(ctx, &ids, `SELECT id FROM messaging_media WHERE gone LIMIT 200`); err != nil || len(ids) == 0 {
		return err
	}
	return fs.Remove(ctx, ids)
}

// Remove removes files from the library, then their rows.
func (fs *Files) Remove(ctx context.Context, ids []any) error {
	for _, id := range ids {
		if err := fs.removeFile(ctx, fmt.Sprint(id)); err != nil {
			return err
		}
	}
	return fs.Store.DB.Write(ctx, func(tx *database.Tx) error {
		in, args := fs.Store.DB.Dialect.In("id", 1, ids)
		_, err := tx.ExecContext(ctx, `DELETE FROM messaging_media WHERE `+in, args...)
		return err
	})
}

// removeFile removes a file, and what was made of it, from the library.
func (fs *Files) removeFile(ctx context.Context, id string) error {
	for _, each := range []string{id, voiceNoteID(id)} {
		if err := fs.Library.Delete(ctx, each); err != nil {
			return fmt.Errorf("removing a file: %w", err)
		}
	}
	return nil
}

// voiceNoteID is the id of the voice note that is made of an audio file.
func voiceNoteID(id string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("voice note of "+id)).String()
}

// Forget has the files of messages that are deleted removed. The condition is
// on messaging_media.
func Forget(ctx context.Context, tx *database.Tx, where string, args ...any) error {
	_, err := tx.ExecContext(ctx, `UPDATE messaging_media SET gone = TRUE, waiting = FALSE WHERE `+where, args...)
	if err != nil {
		return fmt.Errorf("forgetting files: %w", err)
	}
	return nil
}
