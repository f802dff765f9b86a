package messaging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/trunklinehq/trunkline/internal/page"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/contact"
	"github.com/trunklinehq/trunkline/messaging/internal/privacy"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/timeline"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Export is everything that is held on a contact or a group; its messages and
// calls are read as they are asked for.
type Export struct {
	Chat        *Chat    // nil: there is none, but the contact has written in groups, or was looked up
	Identity    Identity // its names now
	IDs         []string // every id by which it is or was known
	Reports     []ExportedReport
	DeadLetters []ExportedReport
	Numbers     []Number // what was asked about its phone number

	s         *Service
	line      store.ReferenceInfo
	chat      *store.Chat
	elsewhere []store.Located
}

// ExportedCall is a call as far as it is held.
type ExportedCall struct {
	ID        string              `json:"id"`
	Status    provider.CallStatus `json:"status"`
	CreatedAt UnixTime            `json:"createdAt"`
}

// ExportedReport is what the network reported that is no message and no status,
// or that could not be read.
type ExportedReport struct {
	Kind      string          `json:"kind" doc:"Kind of report; for a dead letter, the reason why it could not be processed."`
	ID        string          `json:"id"`
	Body      json.RawMessage `json:"body"`
	CreatedAt UnixTime        `json:"createdAt"`
}

// ExportedMessage is a message with what else is held of it.
type ExportedMessage struct {
	Message  Message          `json:"message"`
	Statuses []ExportedStatus `json:"statuses" nullable:"false" doc:"Statuses of the message and their times."`
	Content  json.RawMessage  `json:"content,omitempty" doc:"Content of a sent message."`
	Raw      json.RawMessage  `json:"raw,omitempty" doc:"The network's report of a received message that was not understood."`
	File     *ExportedFile    `json:"file,omitempty"`
}

// ExportedStatus is a status that a message reached.
type ExportedStatus struct {
	Status string   `json:"status"`
	At     UnixTime `json:"at"`
}

// ExportedFile is the file of a message.
type ExportedFile struct {
	Media
	Name    string `json:"name"`
	Waiting bool   `json:"waiting" doc:"Whether the file is still being fetched."`
}

// Export returns what is held on a contact or a group. An id of which nothing
// is held is [ErrNotFound].
func (a *Account) Export(ctx context.Context, ref provider.ReferenceID, chatID string) (*Export, error) {
	who, err := a.s.recipients.Person(ctx, a.s.db, a.id, ref, chatID)
	if err != nil {
		return nil, err
	}
	l, addr := who.Reference, who.Address
	if err := a.s.store.FinishMerges(ctx, l, addr); err != nil {
		return nil, err
	}
	c, err := a.s.store.ChatByAddress(ctx, a.s.db, ref, addr)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	f, err := a.s.privacy.Search(ctx, a.s.db, l, addr, c)
	if err != nil {
		return nil, err
	}
	if f.Empty() {
		return nil, ErrNotFound
	}
	e := &Export{
		IDs: f.Known, Reports: []ExportedReport{}, DeadLetters: []ExportedReport{}, Numbers: []Number{},
		Identity: identityOf(addr),
		s:        a.s, line: l, chat: c, elsewhere: f.Elsewhere,
	}
	return e, e.read(ctx, f)
}

// read fills in what there is little of.
func (e *Export) read(ctx context.Context, f *privacy.Data) error {
	if e.chat != nil {
		view, err := chatOf(ctx, e.s.db, e.chat)
		if err != nil {
			return err
		}
		e.Chat, e.Identity = &view, identity(e.chat)
	}
	var err error
	if e.Reports, err = e.reports(ctx, `SELECT kind, raw_id AS id, body, created_us FROM messaging_raw WHERE `, f.Reports); err != nil {
		return err
	}
	if e.DeadLetters, err = e.reports(ctx, `SELECT reason AS kind, digest AS id, body, created_us FROM messaging_dead_letter WHERE `, f.Dead); err != nil {
		return err
	}
	return e.readNumbers(ctx, f.Numbers)
}

// Calls are those of the chat, oldest first. They end at the first error.
func (e *Export) Calls(ctx context.Context) iter.Seq2[ExportedCall, error] {
	return func(yield func(ExportedCall, error) bool) {
		if e.chat == nil {
			return
		}
		for after := int64(0); ; {
			var rows []struct {
				Seq       int64               `db:"id"`
				ID        string              `db:"call_id"`
				Status    provider.CallStatus `db:"status"`
				CreatedUS int64               `db:"created_us"`
			}
			err := e.s.db.SelectContext(ctx, &rows, `SELECT id, call_id, status, created_us FROM messaging_call WHERE chat = $1 AND id > $2
				ORDER BY id LIMIT $3`, e.chat.ID, after, exportPage)
			if err != nil {
				yield(ExportedCall{}, fmt.Errorf("exporting calls: %w", err))
				return
			}
			for _, r := range rows {
				if !yield(ExportedCall{r.ID, r.Status, payload.TimeOf(r.CreatedUS)}, nil) {
					return
				}
				after = r.Seq
			}
			if len(rows) < exportPage {
				return
			}
		}
	}
}

// reports reads rows of what was reported, by their ids.
func (e *Export) reports(ctx context.Context, query string, ids []int64) ([]ExportedReport, error) {
	out := []ExportedReport{}
	for part := range slices.Chunk(ids, store.Chunk) {
		var rows []struct {
			Kind      string `db:"kind"`
			ID        string `db:"id"`
			Body      string `db:"body"`
			CreatedUS int64  `db:"created_us"`
		}
		in, args := e.s.db.Dialect.InNumbers("id", 1, part)
		if err := e.s.db.SelectContext(ctx, &rows, query+in+` ORDER BY id`, args...); err != nil {
			return nil, fmt.Errorf("exporting reports: %w", err)
		}
		for _, r := range rows {
			out = append(out, ExportedReport{r.Kind, r.ID, jsonOf(r.Body), payload.TimeOf(r.CreatedUS)})
		}
	}
	return out, nil
}

// jsonOf is a stored text that mostly is JSON, as JSON.
func jsonOf(s string) json.RawMessage {
	switch {
	case s == "":
		return json.RawMessage(`null`)
	case json.Valid([]byte(s)):
		return json.RawMessage(s)
	}
	return payload.MustEncode(s)
}

func (e *Export) readNumbers(ctx context.Context, numbers []string) error {
	for _, n := range numbers {
		kept, err := contact.Kept(ctx, e.s.db, e.line.ID, n)
		if err != nil {
			return err
		}
		e.Numbers = append(e.Numbers, kept...)
	}
	return nil
}

// MessageIDs are those of what the contact wrote in groups.
func (e *Export) MessageIDs() []string { return privacy.IDsOf(e.elsewhere) }

// exportPage is how many messages, or calls, are read at once.
const exportPage = 200

// Messages are those of the chat, oldest first, then what the contact wrote in
// groups. They end at the first error.
func (e *Export) Messages(ctx context.Context) iter.Seq2[ExportedMessage, error] {
	return func(yield func(ExportedMessage, error) bool) {
		if e.chat != nil && !e.ofChat(ctx, yield) {
			return
		}
		for part := range slices.Chunk(e.elsewhere, exportPage) {
			seqs := make([]int64, len(part))
			for i, m := range part {
				seqs[i] = m.Seq
			}
			in, args := e.s.db.Dialect.InNumbers("m.seq", 1, seqs)
			if _, more := e.yield(ctx, yield, in+` ORDER BY m.chat, m.past_us, m.seq`, args...); !more {
				return
			}
		}
	}
}

// ofChat yields the messages of the chat, and says whether more is wanted.
func (e *Export) ofChat(ctx context.Context, yield func(ExportedMessage, error) bool) bool {
	at := page.Cursor{-store.PresentUS, 0}
	for {
		p := store.Params{e.chat.ID}
		where := `m.chat = $1 AND (m.past_us, m.seq) > ` + p.Pair(at) + ` ORDER BY m.past_us, m.seq LIMIT ` + p.Add(exportPage)
		rows, more := e.yield(ctx, yield, where, p...)
		if !more || len(rows) < exportPage {
			return more
		}
		last := rows[len(rows)-1]
		at = page.Cursor{last.PastUS, last.Seq}
	}
}

// exportRow is a message with what was sent, and its file.
type exportRow struct {
	store.Message
	Content string `db:"content"`
	File    string `db:"file"` // "": none
	Detail  string `db:"detail"`
	Waiting bool   `db:"waiting"`
}

// yield reads and yields messages, and says whether more is wanted.
func (e *Export) yield(ctx context.Context, yield func(ExportedMessage, error) bool, where string, args ...any) ([]*exportRow, bool) {
	var rows []*exportRow
	err := e.s.db.SelectContext(ctx, &rows, `SELECT `+store.MessageColumns+`, COALESCE(o.content, '') AS content, COALESCE(f.id, '') AS file,
		COALESCE(f.detail, '') AS detail, COALESCE(f.waiting, FALSE) AS waiting`+store.MessageFrom+`
		LEFT JOIN messaging_media f ON f.message = m.seq AND f.message > 0 AND NOT f.gone WHERE `+where, args...)
	if err != nil {
		yield(ExportedMessage{}, fmt.Errorf("exporting messages: %w", err))
		return nil, false
	}
	chats, err := e.chats(ctx, rows)
	for _, r := range rows {
		var out ExportedMessage
		if err == nil {
			out, err = e.message(ctx, r, chats[r.Chat])
		}
		if !yield(out, err) || err != nil {
			return nil, false
		}
	}
	return rows, true
}

// chats reads the chats of messages.
func (e *Export) chats(ctx context.Context, rows []*exportRow) (map[int64]*store.Chat, error) {
	out := map[int64]*store.Chat{}
	if e.chat != nil {
		out[e.chat.ID] = e.chat
	}
	for _, r := range rows {
		if out[r.Chat] != nil {
			continue
		}
		c := &store.Chat{}
		if err := sqlx.GetContext(ctx, e.s.db, c, `SELECT `+store.ChatColumns+` FROM messaging_chat c WHERE c.id = $1`, r.Chat); err != nil {
			return nil, fmt.Errorf("exporting a group: %w", err)
		}
		out[r.Chat] = c
	}
	return out, nil
}

func (e *Export) message(ctx context.Context, r *exportRow, c *store.Chat) (ExportedMessage, error) {
	out := ExportedMessage{Message: r.View(c), Statuses: []ExportedStatus{}, Content: json.RawMessage(r.Content), File: r.file()}
	for _, t := range timeline.Of(&r.Message) {
		if t.Step == StepStatus {
			out.Statuses = append(out.Statuses, ExportedStatus{t.Status, UnixTime{Time: database.Time(t.AtUS)}})
		}
	}
	var err error
	out.Raw, err = rawOf(ctx, e.s.db, &r.Message)
	return out, err
}

func (r *exportRow) file() *ExportedFile {
	if r.File == "" {
		return nil
	}
	out := &ExportedFile{Media: Media{ID: r.File}, Waiting: r.Waiting}
	if r.Waiting {
		return out
	}
	var kept attachment.Stored
	_ = json.Unmarshal([]byte(r.Detail), &kept) // written by this package
	out.MimeType, out.FileLength, out.FileURL, out.Name = kept.Type, kept.Size, kept.Link, kept.Name
	return out
}
