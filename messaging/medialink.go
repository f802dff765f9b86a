package messaging

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// copyTimeout is how long an answer waits for our copy of a file that was sent by
// its address, and an attempt for one that it has to convert.
const copyTimeout = 2 * time.Second

// expectLink has the file of a message that goes out by its address fetched,
// while the message is sent: the network gets the address, and the record the
// copy.
func expectLink(u *store.Batch, d preparedMessage, m *store.Message) {
	f, is := d.content.(provider.Media)
	if !is || f.URL == "" || !u.Store.KeepsFiles {
		return
	}
	source := store.FileSource{Kind: f.Kind, URL: f.URL, Name: f.FileName, Link: true}
	u.Expected = append(u.Expected, store.ExpectedFile{ID: store.NewID(), Reference: d.line, Message: m, Source: source, Parent: u.Traceparent})
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

// awaitCopy waits until the file of a message is fetched, or will not come, at
// most for d. It reports whether that is so.
func (s *Service) awaitCopy(ctx context.Context, seq int64, d time.Duration) bool {
	return s.await(ctx, seq, d, `SELECT NOT waiting FROM messaging_media WHERE message = $1`)
}

// copyOf makes of a file by its address our copy of it, which can be converted.
func (s *Service) copyOf(ctx context.Context, j *job, m provider.Media) (provider.Media, error) {
	if !s.awaitCopy(ctx, j.Seq, copyTimeout) {
		return m, &provider.Temporary{Err: errors.New("the file is still being fetched"), After: time.Second}
	}
	var id string
	err := s.db.GetContext(ctx, &id, `SELECT id FROM messaging_media WHERE message = $1 AND NOT waiting AND NOT gone`, j.Seq)
	if errors.Is(err, sql.ErrNoRows) {
		return m, &provider.Rejected{Code: store.CodeMediaUnavailable, Message: "The file could not be fetched."}
	}
	if err != nil {
		return m, &provider.Temporary{Err: fmt.Errorf("finding the copy of a file: %w", err)}
	}
	m.StoredID, m.URL = id, ""
	return m, nil
}

// settledFiles tells those who wait.
func (s *Service) settledFiles(outs []queue.Outcome) {
	for _, o := range outs {
		if f, ok := o.Data.(fetched); ok {
			s.attemptOver(f.seq)
		}
	}
	s.notifySubscribers()
}
