package messaging

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/provider"
)

// copyTimeout is how long an answer waits for our copy of a file that was sent by
// its address, and an attempt for one that it has to convert.
const copyTimeout = 2 * time.Second

// expectLink has the file of a message that goes out by its address fetched,
// while the message is sent: the network gets the address, and the record the
// copy.
func (u *batch) expectLink(d preparedMessage, m *messageRow) {
	f, is := d.content.(provider.Media)
	if !is || f.URL == "" || u.s.opts.Media == nil {
		return
	}
	source := fileSource{Kind: f.Kind, URL: f.URL, Name: f.FileName, Link: true}
	u.expected = append(u.expected, expectedFile{newID(), d.line, m, source, u.traceparent})
}

// deferForLink makes the events of a chat wait, from the next on, which announces
// m, while the copy of its file is fetched.
func (u *batch) deferForLink(c *chatRow, m *messageRow) {
	if u.s.opts.Media == nil || m.OwnID == "" || m.isMissingFile() || !strings.Contains(m.Body, `"fileUrl":""`) {
		return
	}
	u.awaited = append(u.awaited, m)
	if !c.Deferring {
		u.deferEvents(c, true, len(u.events))
	}
}

// isMissingFile says whether the error of a message is about its file.
func (m *messageRow) isMissingFile() bool {
	return slices.Contains([]string{mediaPending, mediaUnavailable, mediaMismatch, mediaTooLarge}, m.ErrorCode)
}

// setMissing notes why a message has no file; nil: it has. Why it failed is more
// than that.
func (m *messageRow) setMissing(why *Failure) {
	switch {
	case m.ErrorCode != "" && !m.isMissingFile():
	case why == nil:
		m.fails(Failure{})
	default:
		m.fails(failureOf(provider.Failure(*why)))
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
		return m, &provider.Rejected{Code: mediaUnavailable, Message: "The file could not be fetched."}
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
