package runtime

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/database"
)

// ErrNotFound reports a run that does not exist, or belongs to another account.
var ErrNotFound = apierr.New("runtime", apierr.NotFound, "there is no such run")

// ErrEnded reports that a run has ended already.
var ErrEnded = apierr.New("runtime", apierr.Conflict, "the run has ended")

// Status is the state of a run.
type Status string

// The states of runs.
const (
	Running   Status = "running" // it has not begun, or is to continue by itself
	Waiting   Status = "waiting"
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Run is a conversation, or a piece of work, that a flow describes.
type Run struct {
	ID        string
	Engine    string // whose it is
	Owner     string // the engine's id of the flow or bot
	Version   int64  // 0: a draft
	Parent    string // the id of the run that began it; "": none did
	Function  string // the slug of the function that it runs; "": it runs the flow itself
	Chat      Chat   // only Account is set when it has none
	Status    Status
	WaitsFor  flow.WaitKind // "" unless it waits
	Event     string        // whose name it waits for
	Input     json.RawMessage
	Output    json.RawMessage // nil: none
	Error     *flow.Error     // nil: none
	StartedAt time.Time
	EndedAt   time.Time // zero: it continues
}

// runRow is a run as its table has it.
type runRow struct {
	Seq       int64  `db:"seq"`
	ID        string `db:"id"`
	Account   string `db:"account"`
	Engine    string `db:"engine"`
	Owner     string `db:"owner"`
	Version   int64  `db:"version"`
	Parent    string `db:"parent"`
	Function  string `db:"function"`
	Document  string `db:"document"`
	Reference int64  `db:"reference"`
	Inbox     string `db:"inbox"`
	ChatID    string `db:"chat_id"`
	Status    Status `db:"status"`
	Waits     string `db:"waits"`
	Event     string `db:"event"`
	State     string `db:"state"`
	Turn      int64  `db:"turn"`
	Input     string `db:"input"`
	Output    string `db:"output"`
	Error     string `db:"error"`
	StartedUS int64  `db:"started_us"`
	EndedUS   int64  `db:"ended_us"`
}

const runColumns = `r.seq, r.id, r.account, r.engine, r.owner, r.version, r.parent, r.function, r.document, r.reference, r.inbox, r.chat_id,
	r.status, r.waits, r.event, r.state, r.turn, r.input, r.output, r.error, r.started_us, r.ended_us`

// inputColumns are what an input of a run needs to know of it.
const inputColumns = `r.seq, r.inbox, r.reference, r.account, r.chat_id`

// ownInbox begins the inbox of a run without a chat.
const ownInbox = "run:"

func (r *runRow) hasChat() bool { return !strings.HasPrefix(r.Inbox, ownInbox) }

func (r *runRow) chat() Chat {
	c := Chat{Account: r.Account, Reference: r.Reference, ID: r.ChatID}
	if r.hasChat() {
		c.Key = r.Inbox
	}
	return c
}

// chats are the chats of the run: its own, or none.
func (r *runRow) chats() []Chat {
	if !r.hasChat() {
		return nil
	}
	return []Chat{r.chat()}
}

// busy says that the run continues by itself: nothing else happens in its chat
// until it waits for something. [inbox.next] says the same in SQL.
func (r *runRow) busy() bool {
	return r.Turn > 0 && (r.Waits == "" || r.Waits == string(flow.WaitEffect))
}

// pausesTimers says whether the timers of the run wait while bots keep silent. One
// that waits for the person does not, nor one that is in the middle of what it
// does.
func (r *runRow) pausesTimers() bool {
	return r.Waits != string(flow.WaitHandoff) && r.Waits != string(flow.WaitEffect)
}

func (r *runRow) view() Run {
	out := Run{
		ID: r.ID, Engine: r.Engine, Owner: r.Owner, Version: r.Version, Parent: r.Parent, Function: r.Function,
		Chat: r.chat(), Status: r.Status, WaitsFor: flow.WaitKind(r.Waits), Event: r.Event, Input: json.RawMessage(r.Input), StartedAt: database.Time(r.StartedUS), EndedAt: database.Time(r.EndedUS),
	}
	if r.Output != "" {
		out.Output = json.RawMessage(r.Output)
	}
	if r.Error != "" {
		out.Error = &flow.Error{}
		_ = json.Unmarshal([]byte(r.Error), out.Error) // written by this package
	}
	return out
}

// subscriber is whom the partitions of a reference belong to. Runs without a reference are the
// account's.
func subscriber(account string, reference int64) string {
	if reference == 0 {
		return account
	}
	return strconv.FormatInt(reference, 10)
}
