package attachment

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/timeline"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Stored is what is known of a file that is in the library.
type Stored struct {
	Reference provider.ReferenceID `json:"-"`
	SHA256    string               `json:"-"` // in hexadecimal; "": not known
	Type      string               `json:"type"`
	Size      int64                `json:"size"`
	Name      string               `json:"name"`
	Link      string               `json:"link"` // the same for the life of the file
	Width     int                  `json:"width,omitempty"`
	Height    int                  `json:"height,omitempty"`
	Seconds   int                  `json:"seconds,omitempty"`
	Pages     int                  `json:"pages,omitempty"`
	Thumbnail string               `json:"thumbnail,omitempty"` // a JPEG in base64
	Title     string               `json:"title,omitempty"`
	Waveform  string               `json:"waveform,omitempty"` // in base64
	Speech    bool                 `json:"speech,omitempty"`   // mono Opus in Ogg, as voice notes are
}

// storeFile describes a file that was just saved under a name.
func (fs *Files) storeFile(f media.File, name string) Stored {
	return Stored{
		SHA256: hex.EncodeToString(f.SHA256), Type: f.Type, Size: f.Size, Name: name, Link: fs.Library.Link(f.ID, name), Width: f.Width, Height: f.Height,
		Seconds: f.Seconds, Pages: f.Pages, Thumbnail: f.JPEGThumbnail, Title: f.Title, Waveform: f.Waveform,
	}
}

// setVoice notes that a file holds so many channels of Opus in Ogg.
func (k *Stored) setVoice(channels int) {
	if channels > 0 {
		k.Type, k.Speech = voiceNoteType, channels == 1
	}
}

// Into fills in the members of a message with the file: what the sender has
// said of it stays.
func (k *Stored) Into(b *payload.Body) {
	b.FileURL, b.MimeType, b.FileLength = k.Link, k.Type, k.Size
	b.Width, b.Height = cmp.Or(b.Width, int64(k.Width)), cmp.Or(b.Height, int64(k.Height))
	b.Seconds, b.PageCount = cmp.Or(b.Seconds, int64(k.Seconds)), cmp.Or(b.PageCount, int64(k.Pages))
	b.JPEGThumbnail, b.Waveform, b.Title = cmp.Or(b.JPEGThumbnail, k.Thumbnail), cmp.Or(b.Waveform, k.Waveform), cmp.Or(b.Title, k.Title)
}

// Complete records what became of files, and lets go the events that waited
// for them.
func (fs *Files) Complete(ctx context.Context, tx *database.Tx, outs []queue.Outcome) error {
	var done []fetched
	var seqs []int64
	for _, o := range outs {
		if f, ok := o.Data.(fetched); ok {
			done, seqs = append(done, f), append(seqs, f.seq)
		}
	}
	if len(done) == 0 {
		return nil
	}
	u := fs.Store.Begin(tx)
	if err := u.LoadLocked(ctx, seqs); err != nil {
		return err
	}
	for _, f := range done {
		if err := fs.completeFile(ctx, u, f); err != nil {
			return err
		}
	}
	if err := store.ReleaseDeferredOf(ctx, u, seqs); err != nil {
		return err
	}
	return u.Flush(ctx)
}

// completeFile gives a message its file, or the reason why it has none.
func (fs *Files) completeFile(ctx context.Context, u *store.Batch, f fetched) error {
	m := u.Messages[f.seq]
	var kept Stored
	if f.file != nil {
		kept = fs.storeFile(*f.file, fileName(&f.source, f.file.Type))
		kept.setVoice(f.channels)
	}
	_, err := u.Tx.ExecContext(ctx, `UPDATE messaging_media SET waiting = FALSE, gone = $1, detail = $2, bytes = $3, sha256 = $4 WHERE id = $5`,
		m == nil || f.file == nil, string(payload.MustEncode(kept)), kept.Size, kept.SHA256, f.id)
	if err != nil {
		return fmt.Errorf("recording file %s: %w", f.id, err)
	}
	if m == nil {
		return nil // deleted meanwhile
	}
	store.SetMissing(m, f.lost)
	if f.lost == nil {
		var body payload.Body
		_ = json.Unmarshal([]byte(m.Body), &body) // written by this package
		kept.Into(&body)
		m.Body = string(payload.MustEncode(body))
		u.Rewritten.Add(m)
	}
	timeline.RecordFile(u, m, f.lost)
	c := u.Chats[m.Chat]
	u.Publish(u.References[m.Reference].Account, m.Reference, string(payload.EventMessage), m.Record(payload.MustEncode(m.Head(c))))
	return nil
}
