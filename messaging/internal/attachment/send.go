package attachment

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// uploadMargin is how long before its end an upload is not used any more.
const uploadMargin = time.Hour

// Find is a file of the library that belongs to an account, or [payload.ErrNotFound].
func (fs *Files) Find(ctx context.Context, q database.Reader, account, id string) (*Stored, error) {
	var row struct {
		Detail    string
		Reference provider.ReferenceID
		SHA256    string `db:"sha256"`
	}
	err := q.GetContext(ctx, &row, `SELECT detail, reference, sha256 FROM messaging_media
		WHERE id = $1 AND account = $2 AND NOT waiting AND NOT gone`, text.Sanitize(id), account)
	if errors.Is(err, sql.ErrNoRows) || err == nil && fs.Library == nil {
		return nil, payload.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("finding a file: %w", err)
	}
	k := &Stored{Reference: row.Reference, SHA256: row.SHA256}
	if err := json.Unmarshal([]byte(row.Detail), k); err != nil {
		return nil, fmt.Errorf("reading what is known of a file: %w", err)
	}
	return k, nil
}

// Attach finds the file of a message to be sent and holds it against the
// limits of its kind of reference. of are the references of which the file may
// be; nil: all of the account. The file is nil when m has none of ours.
func (fs *Files) Attach(
	ctx context.Context, q database.Reader, account string, of []int64, m provider.Media, limit int64,
) (*Stored, provider.Media, error) {
	if m.StoredID == "" {
		return nil, m, nil
	}
	k, err := fs.Find(ctx, q, account, m.StoredID)
	if errors.Is(err, payload.ErrNotFound) || err == nil && of != nil && !slices.Contains(of, int64(k.Reference)) {
		return nil, m, &payload.Missing{Field: "message.mediaId", Message: "must be the id of a file of this account"}
	}
	if err != nil {
		return nil, m, err
	}
	if err := k.fits(m, limit); err != nil {
		return nil, m, err
	}
	if m.Voice && !k.Speech && !canConvertAudio() {
		return nil, m, &payload.Invalid{Field: "message.voice", Message: noFfmpegText}
	}
	return k, k.describe(m), nil
}

func tooLong(m provider.Media, limit int64) error {
	return &payload.Invalid{Field: "message.mediaId", Message: fmt.Sprintf("is the id of a file that is too large: at most %d KiB can be sent as %s", limit>>10, m.Type())}
}

// Use keeps the file of a message to be sent for as long as the message.
func Use(ctx context.Context, u *store.Batch, content provider.Content) error {
	m, is := content.(provider.Media)
	if !is || m.StoredID == "" {
		return nil
	}
	_, err := u.Tx.ExecContext(ctx, `UPDATE messaging_media SET used_us = $1 WHERE id = $2`, database.Micros(u.Now), text.Sanitize(m.StoredID))
	if err != nil {
		return fmt.Errorf("noting that a file is used: %w", err)
	}
	return nil
}

// HandOver makes the file of a message ready for the network, which may get it
// now. A repeat does no harm, so that no error is ambiguous. cached says that
// the network had it before.
func (fs *Files) HandOver(ctx context.Context, seq int64, ref *store.Reference, content provider.Content) (out provider.Content, cached bool, err error) {
	m, is := content.(provider.Media)
	convert := is && m.Voice && m.URL != "" && fs.Library != nil
	if !is || m.StoredID == "" && !convert {
		return content, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, FetchTimeout)
	defer cancel()
	if convert {
		if m, err = fs.copyOf(ctx, seq, m); err != nil {
			return m, false, err
		}
	}
	m, cached, err = fs.ready(ctx, ref, m)
	_, again := refusal.Retryable(err, 0)
	switch {
	case errors.Is(err, payload.ErrNotFound), errors.Is(err, media.ErrNotFound):
		err = &provider.Rejected{Code: store.CodeMediaUnavailable, Message: "The file was deleted."}
	case errors.Is(err, media.ErrDamaged):
		err = &provider.Rejected{Code: store.CodeMediaUnavailable, Message: "The file is damaged in the store of this server. Its operator can restore it from a backup."}
	case err != nil && !refusal.Certain(err) && !again:
		err = &provider.Temporary{Err: err}
	}
	return m, cached, err
}

func (fs *Files) ready(ctx context.Context, ref *store.Reference, m provider.Media) (provider.Media, bool, error) {
	k, err := fs.Find(ctx, fs.Store.DB, ref.Account, m.StoredID)
	if err != nil {
		return m, false, err
	}
	m = k.describe(m)
	id, digest := m.StoredID, k.SHA256
	if m.Voice && !k.Speech {
		if !canConvertAudio() {
			return m, false, &provider.Rejected{Code: "voice", Message: noFfmpegText}
		}
		if err := fs.makeVoiceNote(ctx, m.StoredID); err != nil {
			return m, false, err
		}
		id, digest = voiceNoteID(m.StoredID), ""
	}
	m.Open = func(ctx context.Context) (io.ReadCloser, error) { return fs.openVerified(ctx, id, digest) }
	sess, err := fs.Session(ctx, ref)
	if err != nil {
		return m, false, err
	}
	up, ok := sess.(provider.MediaUploader)
	if !ok {
		return m, false, nil
	}
	if m.ID, err = fs.uploadedBefore(ctx, ref, m); err != nil || m.ID != "" {
		return m, m.ID != "", err
	}
	uploaded, until, err := up.UploadMedia(ctx, m)
	if err != nil {
		return m, false, err
	}
	m.ID = uploaded
	return m, false, fs.noteUpload(ctx, ref, m, until)
}

// uploadKind tells apart what one file may be uploaded as.
func uploadKind(m provider.Media) string {
	if m.Voice {
		return "voice"
	}
	return m.Type()
}

// uploadedBefore is the network's id of a file that it still keeps, or "".
func (fs *Files) uploadedBefore(ctx context.Context, ref *store.Reference, m provider.Media) (string, error) {
	var ids []string
	err := fs.Store.DB.SelectContext(ctx, &ids, `SELECT upload FROM messaging_upload
		WHERE reference = $1 AND media = $2 AND kind = $3 AND revision = $4 AND until_us > $5`,
		ref.ID, m.StoredID, uploadKind(m), ref.Revision, database.Micros(fs.Store.Now().Add(uploadMargin)))
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

func (fs *Files) noteUpload(ctx context.Context, ref *store.Reference, m provider.Media, until time.Time) error {
	return fs.Store.DB.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO messaging_upload (reference, media, kind, revision, upload, until_us)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (reference, media, kind) DO UPDATE
			SET revision = excluded.revision, upload = excluded.upload, until_us = excluded.until_us`,
			ref.ID, m.StoredID, uploadKind(m), ref.Revision, m.ID, database.Micros(until))
		return err
	})
}

// ForgetUpload drops the network's id of a file that it does not know any
// more, so that the next attempt hands the file over again.
func (fs *Files) ForgetUpload(ctx context.Context, ref *store.Reference, m provider.Media) error {
	return fs.Store.DB.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM messaging_upload WHERE reference = $1 AND media = $2 AND kind = $3`,
			ref.ID, m.StoredID, uploadKind(m))
		return err
	})
}

// CopyTimeout is how long an answer waits for our copy of a file that was sent by
// its address, and an attempt for one that it has to convert.
const CopyTimeout = 2 * time.Second

// copyOf makes of a file by its address our copy of it, which can be converted.
func (fs *Files) copyOf(ctx context.Context, seq int64, m provider.Media) (provider.Media, error) {
	if !fs.Waits.File(ctx, seq, CopyTimeout) {
		return m, &provider.Temporary{Err: errors.New("the file is still being fetched"), After: time.Second}
	}
	var id string
	err := fs.Store.DB.GetContext(ctx, &id, `SELECT id FROM messaging_media WHERE message = $1 AND NOT waiting AND NOT gone`, seq)
	if errors.Is(err, sql.ErrNoRows) {
		return m, &provider.Rejected{Code: store.CodeMediaUnavailable, Message: "The file could not be fetched."}
	}
	if err != nil {
		return m, &provider.Temporary{Err: fmt.Errorf("finding the copy of a file: %w", err)}
	}
	m.StoredID, m.URL = id, ""
	return m, nil
}

// Completed tells those who wait.
func (fs *Files) Completed(outs []queue.Outcome) {
	for _, o := range outs {
		if f, ok := o.Data.(fetched); ok {
			fs.Waits.Fetched(f.seq)
		}
	}
}
