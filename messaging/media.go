package messaging

import (
	"context"
	"fmt"
	"io"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// MaxMedia is the most bytes of a file: no network takes longer ones.
const MaxMedia = attachment.MaxSize

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
	FileLength int64                `json:"fileLength" doc:"Size in bytes."`
	FileURL    string               `json:"fileUrl" doc:"Path of the file, relative to the base address."`
}

// SaveMedia keeps a file of at most [MaxMedia] bytes, as it is read. Beside
// [ErrNotFound] and an [*Error] it returns the errors of [media.Library.Save].
func (a *Account) SaveMedia(ctx context.Context, ref provider.ReferenceID, n NewMedia) (Media, error) {
	if _, err := store.ReferenceOf(ctx, a.s.db, a.id, ref); err != nil {
		return Media{}, err
	}
	if a.s.opts.Media == nil {
		return Media{}, &Error{Code: CodeUnsupported, Message: "This server does not store files."}
	}
	if err := a.s.admit(ctx, a.s.db, a.id, WantStorage, 1); err != nil {
		return Media{}, err
	}
	// The row comes first, so that a file of a failed call is removed.
	id := store.NewID()
	now := database.Micros(a.s.now())
	err := a.s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, store.InsertMedia+` VALUES ($1, $2, $3, 0, TRUE, FALSE, '{}', $4, $4)`, id, a.id, ref, now)
		return err
	})
	if err != nil {
		return Media{}, fmt.Errorf("noting a file: %w", err)
	}
	kept, err := a.s.attachments.Save(ctx, id, n.Name, n.Type, n.Body)
	if noted := a.s.attachments.NoteSaved(context.WithoutCancel(ctx), ref, id, kept, err != nil); err == nil {
		err = noted
	}
	if err != nil {
		return Media{}, fmt.Errorf("keeping a file: %w", err)
	}
	return Media{ID: id, MimeType: kept.Type, FileLength: kept.Size, FileURL: kept.Link}, nil
}

// Media returns a file of the account by its id, or [ErrNotFound].
func (a *Account) Media(ctx context.Context, id string) (Media, error) {
	k, err := a.s.attachments.Find(ctx, a.s.db, a.id, id)
	if err != nil {
		return Media{}, err
	}
	return Media{Reference: k.Reference, ID: id, MimeType: k.Type, FileLength: k.Size, FileURL: k.Link}, nil
}

// LibraryFile is a file of the library: its id, and the SHA-256 digest of its content,
// which is "" if it was stored before digests were.
type LibraryFile = attachment.LibraryFile

// LibraryFiles are all files that the library has for this database, whichever
// account they belong to: what a copy of the database needs beside it. q is the
// database or a transaction of it. One of them may be removed later.
func LibraryFiles(ctx context.Context, q database.Reader) ([]LibraryFile, error) {
	return attachment.LibraryFiles(ctx, q)
}
