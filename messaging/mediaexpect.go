package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

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
func expect(u *store.Batch, l store.ReferenceInfo, e *provider.Message, m *store.Message) {
	f, is := e.Content.(provider.Media)
	if !is || f.Kind == provider.Placeholder || m.ErrorCode != "" {
		return
	}
	var body Body
	if json.Unmarshal([]byte(m.Body), &body) == nil && body.FileURL != "" {
		return // it came again
	}
	if !u.Store.KeepsFiles || f.ID == "" && f.URL == "" && f.StoredID == "" {
		m.SetFailure(Failure{Code: store.CodeMediaUnavailable, Message: "The file cannot be fetched."})
		u.DirtyMessages.Add(m)
		return
	}
	source := store.FileSource{Kind: f.Kind, ID: f.ID, URL: f.URL, Stored: f.StoredID, Name: f.FileName, File: f.File}
	source.Thumbnail, source.Waveform = nil, nil // the message has them
	u.Expected = append(u.Expected, store.ExpectedFile{ID: store.NewID(), Reference: l, Message: m, Source: source, Parent: u.Traceparent})
	if c := u.Chats[m.Chat]; !e.Historical && !c.Deferring {
		u.DeferEvents(c, true, len(u.Events))
	}
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
func fileName(f *store.FileSource, contentType string) string {
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
