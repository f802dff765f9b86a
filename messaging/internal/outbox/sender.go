package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/connection"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/timeline"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// confirmTimeout is how long an attempt of unknown outcome may be settled by a
	// status before the message fails.
	confirmTimeout = 10 * time.Minute
	// sendTTL is how long a message that certainly did not leave is retried.
	sendTTL = 24 * time.Hour
)

// job is a message on its way out.
type job struct {
	store.Message
	Content string
	ReplyTo string

	chat *store.Chat
	ref  *store.Reference
}

// attempt is what an attempt found out.
type attempt struct {
	seq       int64
	ref       *store.Reference
	receipt   *provider.Receipt
	failed    *provider.Failure // for good
	uncertain bool              // it may have left
	retry     bool              // it certainly did not leave
	why       error             // of what is retried
	parent    string            // traceparent
}

func (a attempt) outcome() string {
	switch {
	case a.receipt != nil:
		return timeline.Sent
	case a.failed != nil:
		return timeline.Failed
	case a.uncertain:
		return timeline.Unconfirmed
	}
	return timeline.Retried
}

// failure is why an attempt was no success; nil: it was one.
func (a attempt) failure() *provider.Failure {
	switch {
	case a.failed != nil:
		return a.failed
	case a.why != nil:
		return refusal.Failure(a.why)
	}
	return nil
}

// ReadSubject names the job that tells a network that a message was read.
func ReadSubject(seq int64) string { return "read:" + strconv.FormatInt(seq, 10) }

// TypingSubject names the job that shows typing before a message is read.
func TypingSubject(seq int64) string { return "typing:" + strconv.FormatInt(seq, 10) }

// Handle makes one attempt to hand a message, or the news that one was
// read, to the network, or makes a call for another node.
func (s *Sender) Handle(ctx context.Context, it queue.Job) queue.Outcome {
	what, id, _ := strings.Cut(it.Subject, ":")
	seq, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return queue.Outcome{Job: it, Result: queue.Done}
	}
	if what == "remote call" {
		return s.Connections.HandleRemoteCall(ctx, it, seq)
	}
	j, err := s.job(ctx, seq)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return queue.Outcome{Job: it, Result: queue.Done} // deleted meanwhile
	case err != nil:
		s.Logger.WarnContext(ctx, "loading a message to send", slog.Any("error", err))
		return queue.Outcome{Job: it, Result: queue.Retry, After: refusal.RetryDelay(it.Attempt, 0)}
	}
	if what == "read" || what == "typing" {
		return s.sendRead(ctx, it, j, what == "typing")
	}
	return s.attemptSend(ctx, it, j)
}

var selectJobs = `SELECT ` + store.MessageColumns + `, COALESCE(o.content, '') AS content, COALESCE(o.reply_to, '') AS reply_to,
	` + store.Nested(store.ChatColumns, "c", "in") + `, ` + store.Nested(store.ReferenceColumns, "r", "of") + store.MessageFrom + `
	JOIN messaging_chat c ON c.id = m.chat JOIN messaging_reference r ON r.id = m.reference WHERE `

// job loads a message to send with its chat and reference, together with those that
// others load.
func (s *Sender) job(ctx context.Context, seq int64) (*job, error) {
	j, found, err := s.jobs.Get(ctx, seq)
	if err == nil && !found {
		err = sql.ErrNoRows
	}
	return &j, err
}

// loadJobs loads messages to send. Those that are being deleted are left out.
func (s *Sender) loadJobs(ctx context.Context, seqs []int64) (map[int64]job, error) {
	in, args := s.Store.DB.Dialect.InNumbers("m.seq", 1, seqs)
	var rows []struct {
		store.Message
		Content string          `db:"content"`
		ReplyTo string          `db:"reply_to"`
		In      store.Chat      `db:"in"`
		Of      store.Reference `db:"of"`
	}
	if err := s.Store.DB.SelectContext(ctx, &rows, selectJobs+in, args...); err != nil {
		return nil, err
	}
	out := make(map[int64]job, len(rows))
	for i := range rows {
		r := &rows[i]
		if !r.In.Deleted() && !r.Of.Deleted() {
			out[r.Seq] = job{Message: r.Message, Content: r.Content, ReplyTo: r.ReplyTo, chat: &r.In, ref: &r.Of}
		}
	}
	return out, nil
}

func (s *Sender) sendMessage(ctx context.Context, it queue.Job, j *job) queue.Outcome {
	out := queue.Outcome{Job: it, Result: queue.Done}
	a := attempt{seq: j.Seq, ref: j.ref}
	if j.Announced || j.GiveUpUS > 0 {
		return out // a status was faster, or it is in doubt
	}
	switch j.ref.State {
	case payload.StateLoggedOut, payload.StateFailed, payload.StateStopped:
		a.failed = &provider.Failure{Code: payload.CodeSessionNotConnected, Message: "The session ended before the message was sent. Start the session and send the message again."}
		out.Data = a
		return out
	}
	if r, ok := s.receipts.Load(j.Seq); ok { // taken, which the database refused to record
		receipt := r.(provider.Receipt)
		a.receipt = &receipt
		out.Data = a
		return out
	}
	load, err := s.load(ctx, j)
	if err != nil {
		return s.judge(out, a, it, provider.Receipt{}, err)
	}
	started, err := s.begin(ctx, j)
	switch {
	case err != nil:
		s.Logger.WarnContext(ctx, "noting the start of a send", slog.Any("error", err))
		out.Result, out.After = queue.Retry, refusal.RetryDelay(it.Attempt, 0)
		return out
	case !started:
		a.uncertain = true // an earlier attempt began and its end is not known
		out.Data = a
		return out
	}
	receipt, err := s.hand(ctx, j, load)
	if err == nil {
		s.receipts.Store(j.Seq, receipt)
	}
	return s.judge(out, a, it, receipt, err)
}

// Repeatable reports whether the ids of a reference's messages are ours: the
// network recognises a repeat.
func (s *Sender) Repeatable(r *store.Reference) bool {
	p := s.Store.Kinds[r.Kind]
	if _, ours := p.(provider.Identifier); !ours {
		return false
	}
	late, may := p.(provider.LateIdentifier)
	if !may {
		return true
	}
	values, err := s.Settings.Open(p, r)
	return err == nil && !late.LateIDs(values)
}

// OwnID is the id of a message that we chose. The network's may have the
// number of a person in it.
func (s *Sender) OwnID(r *store.Reference, m *store.Message) string {
	if s.Repeatable(r) {
		return m.ID
	}
	return m.OwnID
}

// begin notes durably that an attempt begins, and reports whether it is the
// only one. References whose message ids are ours need no note: a repeat is
// recognised.
func (s *Sender) begin(ctx context.Context, j *job) (bool, error) {
	if s.Repeatable(j.ref) {
		return true, nil
	}
	note, mine := s.starts.Note(j.Seq, database.Micros(s.Store.Now()))
	var first bool
	err := s.Store.DB.Write(ctx, func(tx *database.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE messaging_outbound SET started_us = $1 WHERE message = $2 AND (started_us = 0 OR started_us = $3)`,
			note, j.Seq, mine)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		first = n == 1
		return err
	})
	s.starts.Written(j.Seq, note, err)
	return first, err
}

// load makes ready what is to be handed over. Nothing of it is ambiguous.
func (s *Sender) load(ctx context.Context, j *job) (*load, error) {
	content, err := render.DecodeStored(j.Content)
	if err != nil {
		return nil, &provider.Rejected{Code: "content", Message: "The stored content cannot be read."}
	}
	l := &load{}
	l.tag, err = render.DecodeTag(json.RawMessage(j.Content))
	if err == nil {
		l.content, err = s.named(ctx, j, content)
	}
	if err != nil {
		return nil, &provider.Temporary{Err: err}
	}
	if l.about, err = s.aboutOf(ctx, j, l.content); err != nil {
		return nil, &provider.Temporary{Err: err}
	}
	l.content, l.cached, err = s.Files.HandOver(ctx, j.Seq, j.ref, l.content)
	return l, err
}

// load is what a message carries.
type load struct {
	content provider.Content
	tag     string
	about   *provider.About
	cached  bool // its file was uploaded by an earlier message
}

// hand gives the message to the network.
func (s *Sender) hand(ctx context.Context, j *job, l *load) (provider.Receipt, error) {
	sess, err := s.Connections.Get(ctx, j.ref)
	switch {
	case errors.Is(err, refusal.ErrNotHere):
		return provider.Receipt{}, &provider.Temporary{Err: err, After: connection.NotHereRetryDelay}
	case err != nil:
		return provider.Receipt{}, &provider.Temporary{Err: err}
	}
	limit := connection.CallTimeout
	if m, is := l.content.(provider.Media); is && m.Open != nil && m.ID == "" {
		limit = attachment.FetchTimeout // the file goes with it
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	receipt, err := sess.Send(ctx, provider.Outbound{
		ID: s.OwnID(j.ref, &j.Message), To: j.chat.Address(), Content: l.content, ReplyTo: j.ReplyTo, About: l.about, Tag: l.tag,
	})
	var rejected *provider.Rejected
	if l.cached && errors.As(err, &rejected) { // it may have forgotten the file
		if forgotten := s.Files.ForgetUpload(ctx, j.ref, l.content.(provider.Media)); forgotten != nil {
			return receipt, &provider.Temporary{Err: forgotten}
		}
		return receipt, &provider.Temporary{Err: errors.New(rejected.Error())} // not wrapped: it is not for good
	}
	return receipt, err
}

// judge turns what a provider answered into an outcome.
func (s *Sender) judge(out queue.Outcome, a attempt, it queue.Job, receipt provider.Receipt, err error) queue.Outcome {
	after, retry := refusal.Retryable(err, it.Attempt)
	switch {
	case err == nil:
		a.receipt = &receipt
	case refusal.Certain(err):
		a.failed = refusal.Failure(err)
		s.loseCredentials(err, a.ref)
	case retry, s.Repeatable(a.ref):
		if !it.Since.IsZero() && s.Store.Now().Sub(it.Since) > sendTTL {
			a.failed = refusal.Failure(err)
			break
		}
		a.retry, a.why = true, err
		out.Result, out.After = queue.Retry, refusal.RetryDelay(it.Attempt, after)
	default:
		a.uncertain = true
	}
	out.Data = a
	return out
}

// loseCredentials marks a reference as failed whose credentials were refused.
func (s *Sender) loseCredentials(err error, ref *store.Reference) {
	var auth *provider.AuthExpired
	if !errors.As(err, &auth) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), connection.CloseTimeout)
	defer cancel()
	err = s.SetState(ctx, ref.ID, func(r *store.Reference) {
		if r.Revision != ref.Revision {
			return // there are new ones meanwhile
		}
		now := database.Micros(s.Store.Now())
		r.State, r.ConnectedUS = payload.StateFailed, 0
		r.ErrorCode, r.ErrorMessage, r.ErrorUS = "credentials", refusal.Text(auth), now
	})
	if err != nil {
		s.Logger.Warn("marking a reference as failed", slog.Any("error", err))
	}
}

// attemptSend makes one attempt at a message.
func (s *Sender) attemptSend(ctx context.Context, it queue.Job, j *job) queue.Outcome {
	ctx, sent := span.Begin(ctx, s.Trace, "messaging.send")
	out := s.sendMessage(ctx, it, j)
	if sent == nil {
		return out
	}
	sent.Set(slog.Int64("reference", int64(j.Reference)))
	sent.Set(slog.String("kind", string(j.ref.Kind)))
	sent.Set(slog.String("message", s.OwnID(j.ref, &j.Message)))
	sent.Set(slog.Int("attempt", it.Attempt+1))
	a, attempted := out.Data.(attempt)
	outcome := a.outcome()
	if !attempted && out.Result == queue.Done {
		outcome = "settled" // by a status
	}
	sent.Set(slog.String("outcome", outcome))
	if a.failed != nil {
		sent.Set(slog.String("code", a.failed.Code))
	}
	if attempted {
		a.parent = span.Of(ctx)
		out.Data = a
	}
	sent.End(outcome != timeline.Sent && outcome != "settled")
	return out
}
