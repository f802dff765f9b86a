package messaging

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
)

// uploadMargin is how long before its end an upload is not used any more.
const uploadMargin = time.Hour

// Media returns a file of the account by its id, or [ErrNotFound].
func (a *Account) Media(ctx context.Context, id string) (Media, error) {
	k, err := a.s.storedFileOf(ctx, a.s.db, a.id, id)
	if err != nil {
		return Media{}, err
	}
	return Media{Reference: k.Reference, ID: id, MimeType: k.Type, FileLength: k.Size, FileURL: k.Link}, nil
}

// storedFileOf is a file of the library that belongs to an account, or [ErrNotFound].
func (s *Service) storedFileOf(ctx context.Context, q sqlx.QueryerContext, account, id string) (*storedFile, error) {
	var row struct {
		Detail    string
		Reference provider.ReferenceID
	}
	err := sqlx.GetContext(ctx, q, &row, `SELECT detail, reference FROM messaging_media
		WHERE id = $1 AND account = $2 AND NOT waiting AND NOT gone`, store.Sanitize(id), account)
	if errors.Is(err, sql.ErrNoRows) || err == nil && s.opts.Media == nil {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("finding a file: %w", err)
	}
	k := &storedFile{Reference: row.Reference}
	if err := json.Unmarshal([]byte(row.Detail), k); err != nil {
		return nil, fmt.Errorf("reading what is known of a file: %w", err)
	}
	return k, nil
}

// attach finds the file of a prepared message and holds it against the reference's limits.
func (s *Service) attach(ctx context.Context, q sqlx.QueryerContext, d *preparedMessage) error {
	m, is := d.content.(provider.Media)
	if !is || m.StoredID == "" {
		return nil
	}
	k, err := s.storedFileOf(ctx, q, d.line.Account, m.StoredID)
	if errors.Is(err, ErrNotFound) || err == nil && d.req.FilesOf != nil && !slices.Contains(d.req.FilesOf, int64(k.Reference)) {
		return &Missing{Field: "message.mediaId", Message: "names no file of this account"}
	}
	if err != nil {
		return err
	}
	if err := k.fits(m, d.provider.Capabilities().Media[m.Type()]); err != nil {
		return err
	}
	if m.Voice && !k.Speech && !canConvertAudio() {
		return &Invalid{Field: "message.voice", Message: noFfmpegText}
	}
	m = k.describe(m)
	d.file, d.content, d.req.Content = k, m, m
	return nil
}

func tooLong(m provider.Media, most int64) error {
	return &Invalid{Field: "message.mediaId", Message: fmt.Sprintf("names a file that is too long: at most %d KiB can be sent as %s", most>>10, m.Type())}
}

// useFile keeps the file of a prepared message for as long as the message.
func useFile(ctx context.Context, u *store.Batch, d preparedMessage) error {
	m, is := d.content.(provider.Media)
	if !is || m.StoredID == "" {
		return nil
	}
	_, err := u.Tx.ExecContext(ctx, `UPDATE messaging_media SET used_us = $1 WHERE id = $2`, database.Micros(u.Now), store.Sanitize(m.StoredID))
	if err != nil {
		return fmt.Errorf("noting that a file is used: %w", err)
	}
	return nil
}

// handOverFile makes the file of a message ready for the network, which may get it
// now. A repeat does no harm, so that no error is ambiguous. cached says that
// the network had it before.
func (s *Service) handOverFile(ctx context.Context, j *job, content provider.Content) (out provider.Content, cached bool, err error) {
	m, is := content.(provider.Media)
	convert := is && m.Voice && m.URL != "" && s.opts.Media != nil
	if !is || m.StoredID == "" && !convert {
		return content, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	if convert {
		if m, err = s.copyOf(ctx, j, m); err != nil {
			return m, false, err
		}
	}
	m, cached, err = s.ready(ctx, j, m)
	_, again := refusal.Retryable(err, 0)
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, media.ErrNotFound):
		err = &provider.Rejected{Code: store.CodeMediaUnavailable, Message: "The file was deleted."}
	case err != nil && !refusal.Certain(err) && !again:
		err = &provider.Temporary{Err: err}
	}
	return m, cached, err
}

func (s *Service) ready(ctx context.Context, j *job, m provider.Media) (provider.Media, bool, error) {
	k, err := s.storedFileOf(ctx, s.db, j.ref.Account, m.StoredID)
	if err != nil {
		return m, false, err
	}
	m = k.describe(m)
	id := m.StoredID
	if m.Voice && !k.Speech {
		if !canConvertAudio() {
			return m, false, &provider.Rejected{Code: "voice", Message: noFfmpegText}
		}
		if err := s.makeVoiceNote(ctx, m.StoredID); err != nil {
			return m, false, err
		}
		id = voiceNoteID(m.StoredID)
	}
	m.Open = func(ctx context.Context) (io.ReadCloser, error) { return s.opts.Media.Open(ctx, id) }
	sess, err := s.sessions.get(ctx, s, j.ref)
	if err != nil {
		return m, false, err
	}
	up, ok := sess.(provider.MediaUploader)
	if !ok {
		return m, false, nil
	}
	if m.ID, err = s.uploadedBefore(ctx, j, m); err != nil || m.ID != "" {
		return m, m.ID != "", err
	}
	uploaded, until, err := up.UploadMedia(ctx, m)
	if err != nil {
		return m, false, err
	}
	m.ID = uploaded
	return m, false, s.noteUpload(ctx, j, m, until)
}

// uploadKind tells apart what one file may be uploaded as.
func uploadKind(m provider.Media) string {
	if m.Voice {
		return "voice"
	}
	return m.Type()
}

// uploadedBefore is the network's id of a file that it still keeps, or "".
func (s *Service) uploadedBefore(ctx context.Context, j *job, m provider.Media) (string, error) {
	var ids []string
	err := s.db.SelectContext(ctx, &ids, `SELECT upload FROM messaging_upload
		WHERE reference = $1 AND media = $2 AND kind = $3 AND revision = $4 AND until_us > $5`,
		j.Reference, m.StoredID, uploadKind(m), j.ref.Revision, database.Micros(s.now().Add(uploadMargin)))
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

func (s *Service) noteUpload(ctx context.Context, j *job, m provider.Media, until time.Time) error {
	return s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO messaging_upload (reference, media, kind, revision, upload, until_us)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (reference, media, kind) DO UPDATE
			SET revision = excluded.revision, upload = excluded.upload, until_us = excluded.until_us`,
			j.Reference, m.StoredID, uploadKind(m), j.ref.Revision, m.ID, database.Micros(until))
		return err
	})
}

// forgetUpload drops the network's id of a file that it does not know any
// more, so that the next attempt hands the file over again.
func (s *Service) forgetUpload(ctx context.Context, j *job, m provider.Media) error {
	return s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM messaging_upload WHERE reference = $1 AND media = $2 AND kind = $3`,
			j.Reference, m.StoredID, uploadKind(m))
		return err
	})
}
