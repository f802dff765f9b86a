package messaging

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// MaxMedia is the most bytes of a file: no network takes longer ones.
const MaxMedia = maxFetchSize

// NewMedia is a file to be kept, and sent later.
type NewMedia struct {
	Name string // "": one by its type
	Type string // content type as it was declared; "": by its bytes
	Body io.Reader
}

// Media is a file that can be sent by its id.
type Media struct {
	Reference  provider.ReferenceID `json:"-"` // that it was uploaded for, or came to
	ID         string               `json:"mediaId"`
	MimeType   string               `json:"mimetype" example:"image/jpeg"`
	FileLength int64                `json:"fileLength" doc:"Bytes."`
	FileURL    string               `json:"fileUrl" doc:"Path below the base address."`
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
	if err := a.s.admit(ctx, a.s.db, a.id, WantStorage, 1); err != nil {
		return Media{}, err
	}
	// The row comes first, so that a file that nobody hears of is removed.
	id := store.NewID()
	now := database.Micros(a.s.now())
	err := a.s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, store.InsertMedia+` VALUES ($1, $2, $3, 0, TRUE, FALSE, '{}', $4, $4)`, id, a.id, ref, now)
		return err
	})
	if err != nil {
		return Media{}, fmt.Errorf("noting a file: %w", err)
	}
	kept, err := a.s.save(ctx, id, n)
	if noted := a.s.noteSaved(context.WithoutCancel(ctx), ref, id, kept, err != nil); err == nil {
		err = noted
	}
	if err != nil {
		return Media{}, fmt.Errorf("keeping a file: %w", err)
	}
	return Media{ID: id, MimeType: kept.Type, FileLength: kept.Size, FileURL: kept.Link}, nil
}

// noteSaved ends the row of an upload; one that failed is to be removed.
func (s *Service) noteSaved(ctx context.Context, ref provider.ReferenceID, id string, kept storedFile, failed bool) error {
	return s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE messaging_media SET waiting = FALSE, gone = (gone OR $1), detail = $2, bytes = $3 WHERE id = $4`,
			failed, string(payload.MustEncode(kept)), kept.Size, id)
		if err != nil || failed {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Entry{
			Action: audit.MediaCreate, ObjectID: id, Reference: int64(ref), Details: map[string]any{"type": kept.Type, "bytes": kept.Size},
		})
	})
}

// save stores a file and looks into it.
func (s *Service) save(ctx context.Context, id string, n NewMedia) (storedFile, error) {
	f, err := s.opts.Media.Save(ctx, n.Body, media.Upload{ID: id, Max: MaxMedia, Type: store.Sanitize(n.Type)})
	if err != nil {
		return storedFile{}, err
	}
	kept := s.storeFile(f, fileName(&store.FileSource{Kind: provider.Document, Name: store.Sanitize(n.Name)}, f.Type))
	channels, err := s.opusChannels(ctx, f.ID, f.Type)
	kept.setVoice(channels)
	return kept, err
}

// opusChannels is how many channels of Opus are in an Ogg file; 0: it holds
// something else. https://www.rfc-editor.org/rfc/rfc7845#section-5.1
func (s *Service) opusChannels(ctx context.Context, id, contentType string) (int, error) {
	if !strings.HasPrefix(contentType, "audio/ogg") && !strings.HasPrefix(contentType, "audio/opus") {
		return 0, nil
	}
	obj, err := s.opts.Media.Open(ctx, id)
	if err != nil {
		return 0, err
	}
	defer obj.Close() //nolint:errcheck // only read
	head := make([]byte, 512)
	n, err := io.ReadFull(obj, head)
	if err != nil && n == 0 {
		return 0, err
	}
	if _, header, found := bytes.Cut(head[:n], []byte("OpusHead")); found && len(header) > 1 {
		return int(header[1]), nil
	}
	return 0, nil
}
