package ingest

import (
	"encoding/json"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// BringsFile says whether an inbound event is a message with a file.
func (a Event) BringsFile() bool {
	m, is := a.Event.(*provider.Message)
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
	var body payload.Body
	if json.Unmarshal([]byte(m.Body), &body) == nil && body.FileURL != "" {
		return // it came again
	}
	if !u.Store.KeepsFiles || f.ID == "" && f.URL == "" && f.StoredID == "" {
		m.SetFailure(payload.Failure{Code: store.CodeMediaUnavailable, Message: "The file cannot be fetched."})
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

// deferForLink makes the events of a chat wait, from the next on, which announces
// m, while the copy of its file is fetched.
func deferForLink(u *store.Batch, c *store.Chat, m *store.Message) {
	if !u.Store.KeepsFiles || m.OwnID == "" || m.IsMissingFile() || !strings.Contains(m.Body, `"fileUrl":""`) {
		return
	}
	u.Awaited = append(u.Awaited, m)
	if !c.Deferring {
		u.DeferEvents(c, true, len(u.Events))
	}
}
