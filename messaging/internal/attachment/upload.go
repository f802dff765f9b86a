package attachment

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// NoteSaved ends the row of an upload; one that failed is to be removed.
func (fs *Files) NoteSaved(ctx context.Context, ref provider.ReferenceID, id string, kept Stored, failed bool) error {
	return fs.Store.DB.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE messaging_media SET waiting = FALSE, gone = (gone OR $1), detail = $2, bytes = $3, sha256 = $4 WHERE id = $5`,
			failed, string(payload.MustEncode(kept)), kept.Size, kept.SHA256, id)
		if err != nil || failed {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Entry{
			Action: audit.MediaCreate, ObjectID: id, Reference: int64(ref), Details: map[string]any{"type": kept.Type, "bytes": kept.Size},
		})
	})
}

// Save stores a file and looks into it.
func (fs *Files) Save(ctx context.Context, id string, name, contentType string, body io.Reader) (Stored, error) {
	f, err := fs.Library.Save(ctx, body, media.Upload{ID: id, Max: MaxSize, Type: text.Sanitize(contentType)})
	if err != nil {
		return Stored{}, err
	}
	kept := fs.storeFile(f, fileName(&store.FileSource{Kind: provider.Document, Name: text.Sanitize(name)}, f.Type))
	channels, err := fs.opusChannels(ctx, f.ID, f.Type)
	kept.setVoice(channels)
	return kept, err
}

// opusChannels is how many channels of Opus are in an Ogg file; 0: it holds
// something else. https://www.rfc-editor.org/rfc/rfc7845#section-5.1
func (fs *Files) opusChannels(ctx context.Context, id, contentType string) (int, error) {
	if !strings.HasPrefix(contentType, "audio/ogg") && !strings.HasPrefix(contentType, "audio/opus") {
		return 0, nil
	}
	obj, err := fs.Library.Open(ctx, id)
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
