package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Codes of the error of a message whose file is missing.
const (
	mediaPending     = "media_pending"     // it is still being fetched
	mediaUnavailable = "media_unavailable" // it cannot be had
	mediaMismatch    = "media_mismatch"    // it is not what was promised
	mediaTooLarge    = "media_too_large"
)

// fileSource is how to fetch a file, and what its sender promised of it.
type fileSource struct {
	Kind   provider.MediaKind `json:"kind"`
	ID     string             `json:"id,omitempty"`
	URL    string             `json:"url,omitempty"`
	Stored string             `json:"stored,omitempty"` // id of another file of the library
	Link   bool               `json:"link,omitempty"`   // the account itself sends it by its URL, of which the network knows nothing
	Name   string             `json:"name,omitempty"`
	provider.File
}

func (f *fileSource) media() provider.Media {
	return provider.Media{Kind: f.Kind, ID: f.ID, URL: f.URL, FileName: f.Name, File: f.File}
}

// expectedFile is a file that is to be fetched once the transaction is over.
type expectedFile struct {
	id     string
	line   referenceInfo
	m      *messageRow
	source fileSource
	parent string // traceparent
}

// bringsFile says whether an inbound event is a message with a file.
func (a inboundEvent) bringsFile() bool {
	m, is := a.event.(*provider.Message)
	if !is {
		return false
	}
	f, is := m.Content.(provider.Media)
	return is && f.Kind != provider.Placeholder
}

// expect has the file of a message that arrived fetched, if it has one. The
// events of its chat wait for it, from this message's on; imported history has
// none.
func (u *batch) expect(l referenceInfo, e *provider.Message, m *messageRow) {
	f, is := e.Content.(provider.Media)
	if !is || f.Kind == provider.Placeholder || m.ErrorCode != "" {
		return
	}
	var body Body
	if json.Unmarshal([]byte(m.Body), &body) == nil && body.FileURL != "" {
		return // it came again
	}
	if u.s.opts.Media == nil || f.ID == "" && f.URL == "" && f.StoredID == "" {
		m.fails(Failure{Code: mediaUnavailable, Message: "The file cannot be fetched."})
		u.dirtyMessages.add(m)
		return
	}
	source := fileSource{Kind: f.Kind, ID: f.ID, URL: f.URL, Stored: f.StoredID, Name: f.FileName, File: f.File}
	source.Thumbnail, source.Waveform = nil, nil // the message has them
	u.expected = append(u.expected, expectedFile{newID(), l, m, source, u.traceparent})
	if c := u.chats[m.Chat]; !e.Historical && !c.Deferring {
		u.deferEvents(c, true, len(u.events))
	}
}

var mediaTypes = []string{"TEXT", "TEXT", "BIGINT", "BIGINT", "BOOLEAN", "BOOLEAN", "TEXT", "BIGINT", "BIGINT"}

const insertMedia = `INSERT INTO messaging_media (id, account, reference, message, waiting, gone, detail, used_us, created_us)`

// writeExpected queues the files that are to be fetched.
func (u *batch) writeExpected(ctx context.Context) error {
	if len(u.expected) == 0 {
		return nil
	}
	rows, work := make([][]any, len(u.expected)), make([]queue.JobArgs, len(u.expected))
	now := database.Micros(u.now)
	for i, x := range u.expected {
		detail := sanitize(string(withoutNUL(payload.MustEncode(x.source))))
		rows[i] = []any{x.id, x.line.Account, x.m.Reference, x.m.Seq, true, false, detail, now, now}
		work[i] = queue.JobArgs{Subscriber: subscriber(x.m.Reference), Key: chatKey(x.m.Reference, x.m.Chat), Subject: x.id, Traceparent: x.parent}
	}
	// What came again is being fetched already.
	if err := u.insert(ctx, insertMedia, mediaTypes, rows, " ON CONFLICT DO NOTHING"); err != nil {
		return fmt.Errorf("noting files to fetch: %w", err)
	}
	return u.s.files.PutTx(ctx, u.tx, work...)
}

// fileRow is a file as its table has it.
type fileRow struct {
	ID        string               `db:"id"`
	Account   string               `db:"account"`
	Reference provider.ReferenceID `db:"reference"`
	Message   int64                `db:"message"`
	Waiting   bool                 `db:"waiting"`
	Gone      bool                 `db:"gone"`
	Detail    string               `db:"detail"`
}

const fileColumns = `f.id, f.account, f.reference, f.message, f.waiting, f.gone, f.detail`

// file reads one row of messaging_media.
func (s *Service) file(ctx context.Context, id string) (*fileRow, error) {
	f := &fileRow{}
	return f, s.db.GetContext(ctx, f, `SELECT `+fileColumns+` FROM messaging_media f WHERE f.id = $1`, id)
}

// fileName is what a file is called in its link.
func fileName(f *fileSource, contentType string) string {
	return cmp.Or(f.Name, f.Title, string(f.Kind)+extension(contentType))
}

// extension ends the names of files of a type; "" when it is not known.
func extension(contentType string) string {
	bare, _, _ := strings.Cut(contentType, ";")
	if t := mimetype.Lookup(strings.TrimSpace(bare)); t != nil {
		return t.Extension()
	}
	return ""
}
