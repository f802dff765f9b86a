package attachment

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/media"
)

// ErrOtherMedia reports a library that is not the one that the other processes
// on the database use: they would not find each other's files.
var ErrOtherMedia = errors.New("messaging: the files of this database are kept elsewhere")

// CheckLibrary makes sure that processes on one database share their files: a
// file that the first has put into its library must be there for all.
func (fs *Files) CheckLibrary(ctx context.Context) error {
	id, err := fs.markOfLibrary(ctx)
	if err != nil {
		return err
	}
	if id == "" {
		if id, err = fs.markLibrary(ctx); err != nil {
			return fmt.Errorf("marking the library: %w", err)
		}
	}
	obj, err := fs.Library.Open(ctx, id)
	if errors.Is(err, media.ErrNotFound) {
		return ErrOtherMedia
	}
	if err != nil {
		return fmt.Errorf("looking into the library: %w", err)
	}
	return obj.Close()
}

// markOfLibrary is the id of the file that the library must have, or "".
func (fs *Files) markOfLibrary(ctx context.Context) (string, error) {
	var ids []string
	if err := fs.Store.DB.SelectContext(ctx, &ids, `SELECT media FROM messaging_library`); err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

// markLibrary puts the mark into the library, unless another process is faster,
// and returns the one that counts.
func (fs *Files) markLibrary(ctx context.Context) (string, error) {
	f, err := fs.Library.Save(ctx, strings.NewReader("The library of a Trunkline database.\n"), media.Upload{})
	if err != nil {
		return "", err
	}
	err = fs.Store.DB.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO messaging_library (one, media) VALUES (1, $1) ON CONFLICT DO NOTHING`, f.ID)
		return err
	})
	if err != nil {
		return "", err
	}
	id, err := fs.markOfLibrary(ctx)
	if err == nil && id != f.ID {
		err = fs.Library.Delete(ctx, f.ID)
	}
	return id, err
}

// LibraryFiles are the ids of all files that the library has for this database,
// whichever account they belong to: what a copy of the database needs beside
// it. q is the database or a transaction of it. One of them may be removed
// later.
func LibraryFiles(ctx context.Context, q database.Reader) ([]LibraryFile, error) {
	var files []LibraryFile
	if err := q.SelectContext(ctx, &files, `SELECT media AS id, '' AS sha256 FROM messaging_library
		UNION SELECT id, sha256 FROM messaging_media WHERE NOT waiting AND NOT gone ORDER BY 1`); err != nil {
		return nil, fmt.Errorf("listing the files of the library: %w", err)
	}
	return files, nil
}

// LibraryFile is a file of the library.
type LibraryFile struct {
	ID     string `db:"id"`
	SHA256 string `db:"sha256"` // of its content, in hexadecimal; "": not known
}
