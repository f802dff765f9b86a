package store

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Codes of the error of a message whose file is missing.
const (
	CodeMediaPending     = "media_pending"     // it is still being fetched
	CodeMediaUnavailable = "media_unavailable" // it cannot be had
	CodeMediaMismatch    = "media_mismatch"    // it is not what was promised
	CodeMediaTooLarge    = "media_too_large"
)

// FileSource is how to fetch a file, and what its sender promised of it.
type FileSource struct {
	Kind   provider.MediaKind `json:"kind"`
	ID     string             `json:"id,omitempty"`
	URL    string             `json:"url,omitempty"`
	Stored string             `json:"stored,omitempty"` // id of another file of the library
	Link   bool               `json:"link,omitempty"`   // the account itself sends it by its URL, of which the network knows nothing
	Name   string             `json:"name,omitempty"`
	provider.File
}

func (f *FileSource) Media() provider.Media {
	return provider.Media{Kind: f.Kind, ID: f.ID, URL: f.URL, FileName: f.Name, File: f.File}
}

// ExpectedFile is a file that is to be fetched once the transaction is over.
type ExpectedFile struct {
	ID        string
	Reference ReferenceInfo
	Message   *Message
	Source    FileSource
	Parent    string // traceparent
}

var mediaTypes = []string{"TEXT", "TEXT", "BIGINT", "BIGINT", "BOOLEAN", "BOOLEAN", "TEXT", "BIGINT", "BIGINT"}

// InsertMedia begins the statement that makes rows of files.
const InsertMedia = `INSERT INTO messaging_media (id, account, reference, message, waiting, gone, detail, used_us, created_us)`

// writeExpected queues the files that are to be fetched.
func (u *Batch) writeExpected(ctx context.Context) error {
	if len(u.Expected) == 0 {
		return nil
	}
	rows, work := make([][]any, len(u.Expected)), make([]queue.JobArgs, len(u.Expected))
	now := database.Micros(u.Now)
	for i, x := range u.Expected {
		detail := text.Sanitize(string(jsonscan.WithoutNUL(payload.MustEncode(x.Source))))
		rows[i] = []any{x.ID, x.Reference.Account, x.Message.Reference, x.Message.Seq, true, false, detail, now, now}
		work[i] = queue.JobArgs{Subscriber: Subscriber(x.Message.Reference), Key: ChatKey(x.Message.Reference, x.Message.Chat), Subject: x.ID, Traceparent: x.Parent}
	}
	// What came again is being fetched already.
	if err := u.Insert(ctx, InsertMedia, mediaTypes, rows, " ON CONFLICT DO NOTHING"); err != nil {
		return fmt.Errorf("noting files to fetch: %w", err)
	}
	return u.Store.Files.PutTx(ctx, u.Tx, work...)
}
