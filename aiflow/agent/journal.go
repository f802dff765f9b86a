package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/database"
)

// The kinds of entries.
const (
	kindTurn  = "turn" // an answer of the model
	kindTool  = "tool" // a call of a tool
	kindInput = "told" // an instruction to the model
)

// The states of entries.
const (
	statusAsked    = "asked" // waits for consent
	statusApproved = "approved"
	statusDenied   = "denied"
	statusStarted  = "started"
	statusDone     = "done"
	statusFailed   = "failed"  // an attempt at an answer that did not come
	statusUnknown  = "unknown" // it is not known whether it was made
)

// entry is something that an agent did.
type entry struct {
	Session   string
	Seq       int64
	Leg       string
	Kind      string
	Status    string
	Child     string
	Request   string
	Result    string
	StartedUS int64 `db:"started_us"`
	DoneUS    int64 `db:"done_us"`

	asked  toolAsked   // of a tool
	came   toolResult  // of a tool
	wanted turnAsked   // of a turn
	answer *turnResult // of a turn; nil: none came
	said   instruction // that was told
}

// turnAsked is the request of a turn.
type turnAsked struct {
	Model   string `json:"model"`          // that is asked
	Reserve int64  `json:"reserve"`        // tokens
	Last    Stop   `json:"last,omitempty"` // why it is the last one, without tools
}

// turnResult is what came of a turn.
type turnResult struct {
	Message  llm.Message `json:"message,omitzero"`
	Stop     llm.Stop    `json:"stop,omitempty"`
	Usage    llm.Usage   `json:"usage"`
	Provider string      `json:"provider,omitempty"`
	Model    string      `json:"model,omitempty"`
	Cost     *int64      `json:"cost,omitempty"` // nano-USD; nil: not known
	Error    llm.Code    `json:"error,omitempty"`
}

// toolAsked is the request of a tool.
type toolAsked struct {
	CallID     string          `json:"callId"`
	Name       string          `json:"name"`   // as the model knows it
	Origin     string          `json:"origin"` // as flows know it
	Arguments  json.RawMessage `json:"arguments"`
	Definition string          `json:"definition,omitempty"` // hash of name, description and schema
	Repeatable bool            `json:"repeatable,omitempty"`
	Private    bool            `json:"private,omitempty"`
	Untrusted  bool            `json:"untrusted,omitempty"`
	Source     string          `json:"source,omitempty"` // of what is private
	Shared     bool            `json:"shared,omitempty"`
	Others     bool            `json:"others,omitempty"`
	Invalid    bool            `json:"invalid,omitempty"` // the arguments were none
	// DecidedAt is when a person approved, in microseconds.
	DecidedAt int64 `json:"decidedAt,omitempty"`
}

// toolResult is what came of a call.
type toolResult struct {
	Content string          `json:"content"`
	Value   json.RawMessage `json:"value,omitempty"`
	IsError bool            `json:"isError,omitempty"`
	Code    string          `json:"code,omitempty"`
}

// instruction is what a person says to the model.
type instruction struct {
	Text   string `json:"text"`
	Repair bool   `json:"repair,omitempty"` // it is us, about its answer
}

// errTaken reports that another process has continued the session, or has written down
// late what it did before it lost its work to this one. It is a
// [database.ErrUnwritable], so that the call is made later, from what is written then.
var errTaken = fmt.Errorf("agent: another process goes on with this: %w", database.ErrUnwritable)

// errOver reports that the run has ended or was erased meanwhile: nothing starts
// in it any more.
var errOver = errors.New("agent: the run is over")

const entryColumns = `session, seq, leg, kind, status, child, request, result, started_us, done_us`

// journal is what was done in a session. Each change is stored before anything
// follows from it, so that another process can continue.
type journal struct {
	db          *database.DB
	now         func() time.Time
	afterCommit func(what string)

	run     string // id of the run
	session string // id of the session
	leg     string // key of the call that is being answered
	entries []*entry
}

// load reads what was done in the session.
func (j *journal) load(ctx context.Context) error {
	err := j.db.SelectContext(ctx, &j.entries, `SELECT `+entryColumns+` FROM agent_entry WHERE session = $1 ORDER BY seq`, j.session)
	if err != nil {
		return fmt.Errorf("reading the journal of an agent: %w", err)
	}
	for _, e := range j.entries {
		if err := e.read(); err != nil {
			return err
		}
	}
	return nil
}

// read decodes what the entry's row holds.
func (e *entry) read() error {
	to, from := any(&e.wanted), any(&e.answer)
	switch e.Kind {
	case kindTool:
		to, from = &e.asked, &e.came
	case kindInput:
		to = &e.said
	}
	if err := json.Unmarshal([]byte(e.Request), to); err != nil {
		return fmt.Errorf("reading entry %d of an agent: %w", e.Seq, err)
	}
	if e.Result == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(e.Result), from); err != nil {
		return fmt.Errorf("reading entry %d of an agent: %w", e.Seq, err)
	}
	return nil
}

// key names a tool call for good.
func (e *entry) key() string { return fmt.Sprintf("%s.%d", e.Session, e.Seq) }

// childSpace is the name space of the ids of runs that agents begin.
var childSpace = uuid.MustParse("5b8a1b6e-7f0e-4c58-9a51-6c1d0a4de5a7")

// Child is the id of the run that a tool begins which is called with a key: a
// call that is repeated finds the run of the first.
func Child(key string) string { return uuid.NewSHA1(childSpace, []byte(key)).String() }

// next returns a new entry of the session, not yet stored.
func (j *journal) next(kind, status string, request any) (*entry, error) {
	raw, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("writing an entry of an agent: %w", err)
	}
	e := &entry{Session: j.session, Seq: 1, Leg: j.leg, Kind: kind, Status: status, Request: string(raw)}
	if n := len(j.entries); n > 0 {
		e.Seq = j.entries[n-1].Seq + 1
	}
	if kind == kindTool {
		e.Child = Child(e.key())
	}
	switch status {
	case statusDone, statusFailed:
		e.StartedUS = database.Micros(j.now())
		e.DoneUS = e.StartedUS
	case statusStarted:
		e.StartedUS = database.Micros(j.now())
	}
	return e, e.read()
}

// write stores new entries. When another process has stored some meanwhile it
// is [errTaken], and [errOver] when the run is over.
func (j *journal) write(ctx context.Context, what string, es ...*entry) error {
	return j.writeWith(ctx, what, func(context.Context, *database.Tx) error { return nil }, es...)
}

// writeWith is write with what else belongs into its transaction.
func (j *journal) writeWith(ctx context.Context, what string, also func(context.Context, *database.Tx) error, es ...*entry) error {
	err := j.db.Write(ctx, func(tx *database.Tx) error {
		ctx := context.WithoutCancel(ctx)
		if err := j.going(ctx, tx); err != nil {
			return err
		}
		if err := also(ctx, tx); err != nil {
			return err
		}
		for _, e := range es {
			_, err := tx.ExecContext(ctx, `INSERT INTO agent_entry (`+entryColumns+`)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
				e.Session, e.Seq, e.Leg, e.Kind, e.Status, e.Child, e.Request, e.Result, e.StartedUS, e.DoneUS)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if database.IsUnique(err) {
		return errTaken
	}
	if err != nil {
		return fmt.Errorf("writing the journal of an agent: %w", err)
	}
	j.entries = append(j.entries, es...)
	j.afterCommit(what)
	return nil
}

// going returns [errOver] if the run is over.
func (j *journal) going(ctx context.Context, tx *database.Tx) error {
	var n int
	err := tx.GetContext(ctx, &n, `SELECT count(*) FROM flow_run WHERE id = $1 AND ended_us = 0`, j.run)
	if err == nil && n == 0 {
		err = errOver
	}
	return err
}

// change stores another status of an entry that is not done, and whatever else
// of it was changed. result, if it is not nil, makes what came of it in the same
// transaction; what it writes itself is kept even if another process was
// faster: then the rest is not, and it is [errTaken].
func (j *journal) change(ctx context.Context, e *entry, from string, result func(context.Context, *database.Tx) (any, error)) error {
	taken := false
	ctx = context.WithoutCancel(ctx)
	err := j.db.Write(ctx, func(tx *database.Tx) error {
		if e.Status == statusStarted {
			if err := j.going(ctx, tx); err != nil {
				return err
			}
		}
		if result != nil {
			came, err := result(ctx, tx)
			if err != nil {
				return err
			}
			raw, err := json.Marshal(came)
			if err != nil {
				return err
			}
			e.Result = string(raw)
		}
		res, err := tx.ExecContext(ctx, `UPDATE agent_entry SET status = $1, leg = $2, request = $3, result = $4, started_us = $5, done_us = $6
			WHERE session = $7 AND seq = $8 AND status = $9`,
			e.Status, e.Leg, e.Request, e.Result, e.StartedUS, e.DoneUS, e.Session, e.Seq, from)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		taken = n == 0
		return err
	})
	if err != nil {
		return fmt.Errorf("writing the journal of an agent: %w", err)
	}
	if taken {
		return errTaken
	}
	return e.read()
}

// start stores that a call starts.
func (j *journal) start(ctx context.Context, e *entry) error {
	from := e.Status
	e.Status, e.StartedUS = statusStarted, database.Micros(j.now())
	err := j.change(ctx, e, from, nil)
	if err == nil {
		j.afterCommit("begun")
	}
	return err
}

// finish stores the result of an entry that was started.
func (j *journal) finish(ctx context.Context, e *entry, status string, result func(context.Context, *database.Tx) (any, error)) error {
	from := e.Status
	e.Status, e.DoneUS = status, database.Micros(j.now())
	err := j.change(ctx, e, from, result)
	if err == nil {
		j.afterCommit("done")
	}
	return err
}

// came is a result that is known before its transaction.
func came(r toolResult) func(context.Context, *database.Tx) (any, error) {
	return func(context.Context, *database.Tx) (any, error) { return r, nil }
}

// instruct stores an instruction to the model.
func (j *journal) instruct(ctx context.Context, t instruction) error {
	e, err := j.next(kindInput, statusDone, t)
	if err != nil {
		return err
	}
	return j.write(ctx, "told", e)
}
