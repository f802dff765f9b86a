package runtime

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/span"
)

// The codes of errors of calls that no kind has for itself, beside
// [flow.CodeUnknown].
const (
	codeFailed = "effect.failed"
)

// callRow is a call as the journal has it.
type callRow struct {
	ID        int64         `db:"id"`
	Run       int64         `db:"run"`
	Effect    string        `db:"effect"`
	Node      string        `db:"node"`
	Kind      flow.CallKind `db:"kind"`
	Once      bool          `db:"once"`
	Key       string        `db:"idempotency_key"`
	Attempt   int           `db:"attempt"`
	TimeoutUS int64         `db:"timeout_us"`
	Request   string        `db:"request"`
	StartedUS int64         `db:"started_us"`
	DoneUS    int64         `db:"done_us"`

	unstored error `db:"-"` // the store could not be written while the call was made
}

// answer is what came of a call.
type answer struct {
	call      *callRow
	result    json.RawMessage
	err       *flow.Error
	startedAt time.Time
	duration  time.Duration

	traceparent string // of the call
}

// callHandler makes the calls of runs, and records what comes of them.
type callHandler struct {
	db       *database.DB
	inbox    *inbox
	outbound *outbound
	opts     *Options
	now      func() time.Time
	starts   database.Starts
}

// handleCall makes a call. One that must not be made twice is noted before: if
// it was begun already and has no result, it is not known what became of it.
func (h *callHandler) handleCall(ctx context.Context, it queue.Job) queue.Outcome {
	c, err := h.callOf(ctx, it.Subject)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return queue.Outcome{Result: queue.Done} // erased meanwhile
	case err != nil:
		return h.callLater(ctx, it, "reading a call failed", err)
	case c.DoneUS > 0:
		return queue.Outcome{Result: queue.Done}
	case c.Once && h.starts.Began(c.ID, c.StartedUS):
		return queue.Outcome{Result: queue.Done, Data: &answer{call: c, err: c.unknown(), startedAt: database.Time(c.StartedUS)}}
	}
	run, err := runBySeq(ctx, h.db, c.Run)
	if err == nil && run.EndedUS > 0 {
		return queue.Outcome{Result: queue.Done}
	}
	a := &answer{call: c, startedAt: h.now()}
	c.Once = c.Once && !(err == nil && h.outbound.repeatable(ctx, run, c))
	if err == nil && c.Once {
		err = h.beginCall(ctx, c, a.startedAt)
	}
	if err != nil {
		return h.callLater(ctx, it, "beginning a call failed", err)
	}
	h.outbound.answer(ctx, run, a)
	a.duration = h.now().Sub(a.startedAt)
	if ctx.Err() != nil && a.err != nil {
		if !c.Once {
			return queue.Outcome{Result: queue.Snooze} // the node stops: another repeats it
		}
		a.err = c.unknown()
	}
	if c.unstored != nil && !c.Once { // that is no answer
		return h.callLater(ctx, it, "the store could not be written", c.unstored)
	}
	return queue.Outcome{Result: queue.Done, Data: a}
}

// outbound performs calls: those that it is given callers for, and those that
// it makes itself.
type outbound struct {
	web   *http.Client
	guard *guard.Guard
	opts  *Options
}

// repeatable says whether the tool of a call lets it be made twice.
func (o *outbound) repeatable(ctx context.Context, run *runRow, c *callRow) bool {
	if o.opts.Repeatable == nil || c.Kind != flow.CallTool {
		return false
	}
	req, err := c.request(run)
	if err != nil {
		return false
	}
	tool, ok := req.Call.Request.(flow.ToolRequest)
	return ok && tool.Auto && o.opts.Repeatable(ctx, req)
}

func (h *callHandler) callLater(ctx context.Context, it queue.Job, what string, err error) queue.Outcome {
	if ctx.Err() != nil {
		return queue.Outcome{Result: queue.Snooze}
	}
	h.opts.Logger.WarnContext(ctx, "a call is made later", "why", what, "error", err)
	return queue.Outcome{Result: queue.Retry, After: min(maxRetryPause, time.Second<<min(it.Attempt, 8))}
}

func (h *callHandler) callOf(ctx context.Context, subject string) (*callRow, error) {
	id, err := strconv.ParseInt(subject, 10, 64)
	if err != nil {
		return nil, sql.ErrNoRows
	}
	c := &callRow{}
	return c, h.db.GetContext(ctx, c, `SELECT id, run, effect, node, kind, once, idempotency_key, attempt, timeout_us, request, started_us, done_us
		FROM flow_effect WHERE id = $1`, id)
}

func (c *callRow) unknown() *flow.Error {
	return &flow.Error{
		Code: flow.CodeUnknown, Node: c.Node, Attempt: c.Attempt,
		Message: "The call was started and its outcome is unknown. It is not repeated.",
	}
}

// beginCall notes durably that a call begins.
func (h *callHandler) beginCall(ctx context.Context, c *callRow, now time.Time) error {
	note, mine := h.starts.Note(c.ID, database.Micros(now))
	err := h.db.Write(ctx, func(tx *database.Tx) error {
		res, err := tx.ExecContext(context.WithoutCancel(ctx), `UPDATE flow_effect SET started_us = $1
			WHERE id = $2 AND (started_us = 0 OR started_us = $3) AND done_us = 0`, note, c.ID, mine)
		if err != nil {
			return err
		}
		return one(res)
	})
	if errors.Is(err, errTaken) { // another note is there
		h.starts.Written(c.ID, note, nil)
		return err
	}
	h.starts.Written(c.ID, note, err)
	if err == nil {
		h.opts.AfterCommit("call")
	}
	return err
}

// perform makes the call.
func (o *outbound) perform(ctx context.Context, run *runRow, c *callRow) (result json.RawMessage, failed *flow.Error) {
	defer func() {
		if v := recover(); v != nil {
			o.opts.Logger.ErrorContext(ctx, "a call panicked", "kind", c.Kind, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			result, failed = nil, c.failed(errors.New("the call broke off"))
		}
	}()
	if c.TimeoutUS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.TimeoutUS)*time.Microsecond)
		defer cancel()
	}
	req, err := c.request(run)
	if err != nil {
		return nil, c.failed(err)
	}
	value, err := o.caller(c.Kind)(ctx, req)
	if errors.Is(err, database.ErrUnwritable) {
		c.unstored = err
	}
	if err != nil {
		return nil, c.failed(err)
	}
	if result, err = json.Marshal(value); err != nil {
		return nil, c.failed(fmt.Errorf("the result is no JSON: %w", err))
	}
	return result, nil
}

func (o *outbound) caller(kind flow.CallKind) Caller {
	if known := o.opts.Callers[kind]; known != nil {
		return known
	}
	switch kind {
	case flow.CallHTTP:
		return o.fetch
	case flow.CallNode:
		return o.callNode
	}
	return func(context.Context, Request) (any, error) {
		return nil, &flow.Error{Code: flow.CodeUnsupported, Message: "This program does not support calls of the kind " + string(kind) + " here."}
	}
}

// callNode calls the function of a node type.
func (o *outbound) callNode(ctx context.Context, c Request) (any, error) {
	in, ok := c.Call.Request.(flow.NodeRequest)
	if !ok {
		return nil, fmt.Errorf("a call of a node's function has a request of the type %T", c.Call.Request)
	}
	chat := c.Run.Chat
	return o.opts.Types.Call(ctx, in, flow.NodeCall{
		Account: chat.Account, Reference: chat.Reference, ChatID: chat.ID, Run: c.Run.ID, Node: c.Call.Node, Key: c.Key, Attempt: c.Call.Attempt,
		Authorize: func(ctx context.Context, credential string, req *http.Request) error {
			return o.authorize(ctx, chat.Account, credential, req)
		},
	})
}

// failed is the error of a call as the run sees it.
func (c *callRow) failed(err error) *flow.Error {
	out := &flow.Error{Code: codeFailed, Message: err.Error()}
	if guard.Network(err) {
		out.Message = "There was no answer: " + guard.Reason(err) + "."
	}
	if c.Kind == flow.CallNode {
		out.Code = flow.CodeNodeFailed
	}
	if known, ok := errors.AsType[*flow.Error](err); ok {
		copied := *known
		copied.Code = cmp.Or(copied.Code, out.Code)
		out = &copied
	}
	out.Node, out.Attempt = cmp.Or(out.Node, c.Node), cmp.Or(out.Attempt, c.Attempt)
	out.Message = truncate(out.Message)
	if raw, err := json.Marshal(out.Detail); err != nil || len(raw) > maxDetail {
		out.Detail = nil // it could not be written down
	}
	return out
}

// The most bytes of what an error of a call says.
const (
	maxMessage = 4 << 10
	maxDetail  = 64 << 10
)

// truncate is the begin of a text, as UTF-8.
func truncate(s string) string {
	if len(s) > maxMessage {
		s = s[:maxMessage-len("…")]
		return strings.ToValidUTF8(s, "") + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// request is the call as its caller gets it.
func (c *callRow) request(run *runRow) (Request, error) {
	out := Request{Run: run.view(), Key: c.Key, Call: flow.Call{
		ID: c.Effect, Node: c.Node, Kind: c.Kind, Once: c.Once, Key: c.Key, Attempt: c.Attempt,
		Timeout: time.Duration(c.TimeoutUS) * time.Microsecond,
	}}
	var err error
	switch c.Kind {
	case flow.CallHTTP:
		out.Call.Request, err = exactly[flow.HTTPRequest](c.Request)
	case flow.CallTool:
		out.Call.Request, err = exactly[flow.ToolRequest](c.Request)
	case flow.CallNode:
		out.Call.Request, err = exactly[flow.NodeRequest](c.Request)
	case flow.CallAssistant, flow.CallAgent, flow.CallExtract:
		out.Call.Request, err = exactly[flow.ModelRequest](c.Request)
	default:
		out.Call.Request = json.RawMessage(c.Request)
	}
	return out, err
}

// exactly reads JSON. Numbers stay as they are written.
func exactly[T any](raw string) (T, error) {
	var v T
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	err := d.Decode(&v)
	return v, err
}

// completeCalls records results, and gives them to their runs, in the
// transaction that finishes the calls.
func (h *callHandler) completeCalls(ctx context.Context, tx *database.Tx, outs []queue.Outcome) error {
	as := answers(outs)
	slices.SortFunc(as, func(a, b *answer) int { return cmp.Compare(a.call.ID, b.call.ID) }) // one lock order
	for _, a := range as {
		if err := h.completeCall(ctx, tx, a); err != nil {
			return fmt.Errorf("storing the result of a call: %w", err)
		}
	}
	return nil
}

func answers(outs []queue.Outcome) []*answer {
	var as []*answer
	for _, o := range outs {
		if a, is := o.Data.(*answer); is {
			as = append(as, a)
		}
	}
	return as
}

func (h *callHandler) completeCall(ctx context.Context, tx *database.Tx, a *answer) error {
	failed := ""
	if a.err != nil {
		raw, err := json.Marshal(a.err)
		if err != nil {
			return err
		}
		failed = string(raw)
	}
	res, err := tx.ExecContext(ctx, `UPDATE flow_effect SET started_us = $1, done_us = $2, result = $3, error = $4 WHERE id = $5 AND done_us = 0`,
		database.Micros(a.startedAt), database.Micros(h.now()), string(a.result), failed, a.call.ID)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); n == 0 || err != nil {
		return err // erased, or known already
	}
	run := &runRow{}
	err = tx.GetContext(ctx, run, `SELECT `+inputColumns+` FROM flow_run r WHERE r.seq = $1 AND r.ended_us = 0`, a.call.Run)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	done := flow.EffectDone{ID: a.call.Effect, Err: a.err}
	if a.err == nil {
		done.Result = a.result
	}
	_, err = h.inbox.enqueueTx(span.With(ctx, a.traceparent), tx, run.job(done))
	return err
}

// completedCalls has the runs continue.
func (h *callHandler) completedCalls(outs []queue.Outcome) {
	as := answers(outs)
	if len(as) == 0 {
		return
	}
	h.opts.AfterCommit("answer")
	for _, a := range as {
		outcome := "done"
		if a.err != nil {
			outcome = a.err.Code
		}
		h.opts.Observer.called(string(a.call.Kind), outcome, a.duration)
	}
}
