package messaging

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
)

// MaxMedia is the most bytes of a file: no network takes longer ones.
const MaxMedia = fetchMost

// NewMedia is a file to be kept, and sent later.
type NewMedia struct {
	Name string // "": one by its type
	Type string // content type as it was declared; "": by its bytes
	Body io.Reader
}

// Media is a file that can be sent by its id.
type Media struct {
	ID         string `json:"mediaId"`
	MimeType   string `json:"mimetype" example:"image/jpeg"`
	FileLength int64  `json:"fileLength" doc:"Bytes."`
	FileURL    string `json:"fileUrl" doc:"Path below the base address."`
}

// SaveMedia keeps a file of at most [MaxMedia] bytes, as it is read. Beside
// [ErrNotFound] and an [*Error] it returns the errors of [media.Library.Save].
func (a *Account) SaveMedia(ctx context.Context, ref provider.ReferenceID, n NewMedia) (Media, error) {
	if _, err := a.row(ctx, a.s.db, ref); err != nil {
		return Media{}, err
	}
	if a.s.opts.Media == nil {
		return Media{}, &Error{Code: CodeUnsupported, Message: "This server keeps no files."}
	}
	// The row comes first, so that a file that nobody hears of is removed.
	id := newID()
	now := database.Micros(a.s.now())
	err := a.s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, insertMedia+` VALUES ($1, $2, $3, 0, TRUE, FALSE, '{}', $4, $4)`, id, a.id, ref, now)
		return err
	})
	if err != nil {
		return Media{}, fmt.Errorf("noting a file: %w", err)
	}
	kept, err := a.s.save(ctx, id, n)
	if noted := a.s.noteSaved(context.WithoutCancel(ctx), id, kept, err != nil); err == nil {
		err = noted
	}
	if err != nil {
		return Media{}, fmt.Errorf("keeping a file: %w", err)
	}
	return Media{ID: id, MimeType: kept.Type, FileLength: kept.Size, FileURL: kept.Link}, nil
}

// noteSaved ends the row of an upload; one that failed is to be removed.
func (s *Service) noteSaved(ctx context.Context, id string, kept keptFile, failed bool) error {
	return s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE messaging_media SET waiting = FALSE, gone = (gone OR $1), detail = $2 WHERE id = $3`,
			failed, string(mustJSON(kept)), id)
		return err
	})
}

// save stores a file and looks into it.
func (s *Service) save(ctx context.Context, id string, n NewMedia) (keptFile, error) {
	f, err := s.opts.Media.Save(ctx, n.Body, media.Upload{ID: id, Max: MaxMedia, Type: clean(n.Type)})
	if err != nil {
		return keptFile{}, err
	}
	kept := s.keep(f, fileName(&fileSource{Kind: provider.Document, Name: clean(n.Name)}, f.Type))
	kept.Speech, err = s.isSpeech(ctx, f.ID, f.Type)
	return kept, err
}

// isSpeech says whether a file is as voice notes are: one channel of Opus in
// Ogg. https://www.rfc-editor.org/rfc/rfc7845#section-5.1
func (s *Service) isSpeech(ctx context.Context, id, contentType string) (bool, error) {
	if !strings.HasPrefix(contentType, "audio/ogg") && !strings.HasPrefix(contentType, "audio/opus") {
		return false, nil
	}
	obj, err := s.opts.Media.Open(ctx, id)
	if err != nil {
		return false, err
	}
	defer obj.Close() //nolint:errcheck // only read
	head := make([]byte, 512)
	n, err := io.ReadFull(obj, head)
	if err != nil && n == 0 {
		return false, err
	}
	_, header, found := bytes.Cut(head[:n], []byte("OpusHead"))
	return found && len(header) > 1 && header[1] == 1, nil
}
