package runtime

import (
	"context"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Tx is a transaction of the caller on the database of this package: a [*sql.Tx],
// a [*sqlx.Tx], or what another library builds on them. What a method that ends in
// Tx writes takes effect when it commits.
type Tx = database.Executor

// Chat names the chat that a run is in.
type Chat struct {
	Account   string
	Reference int64  // of the reference
	Key       string // what orders everything in the chat; it is unique over all references
	ID        string // the chat's id on its reference
}

// Snapshot is what a turn sees of a chat.
type Snapshot struct {
	Contact map[string]any // as expressions see it
	Chat    map[string]any // {id, reference, variables}
	// Silent says that no bot may speak in the chat now: it is switched off
	// there, or a person has taken over.
	Silent bool
	// Until is when that ends by itself; zero: not known.
	Until time.Time
}

// Incoming is a message of a contact.
type Incoming struct {
	Chat Chat `json:"chat"`
	// Message is what expressions see of it: {id, type, text, media, reply,
	// location, contacts}.
	Message map[string]any `json:"message"`
	Inbound flow.Inbound   `json:"arrival"` // what triggers see
	// Prepare has the chat service look at the message before anybody is asked who
	// answers it: see [Preparer].
	Prepare bool `json:"prepare,omitempty"`
	// Traceparent is the W3C traceparent of what the message came with, for
	// [Options].Trace; "": that of a trace of these packages in the context, or
	// none.
	Traceparent string `json:"-"`
}

// ChatService is the chat service that runs live in. What else it can do it has further
// methods for, which are found by assertion: those of [MessageService], [JumpService],
// [ContactService], [EventService], [HandoffService], [ConsentService], [Watcher],
// [Preparer] and [BatchService].
//
// Methods ending in Tx write in the transaction that stores the turn, and must
// use nothing but that: it is undone and run again when anything fails. Turns of
// several chats may share a transaction. What the methods refuse for good they refuse
// with a [*flow.Error], and the node takes its error output; after any other error the
// turn is tried again later. What needs a chat they are not asked for by runs that have
// none.
type ChatService interface {
	// Snapshot shows a chat as it is now.
	Snapshot(ctx context.Context, c Chat) (Snapshot, error)
}

// MessageService is a [ChatService] that sends messages.
type MessageService interface {
	// SendTx queues a message in the run's chat and returns its id.
	SendTx(ctx context.Context, tx Tx, r Run, s flow.Send) (string, error)
}

// BatchService is a [ChatService] that does together what the turns of one transaction
// ask for.
type BatchService interface {
	// BatchTx locks chats, and returns the service to be asked instead for what the
	// turns in them do in tx. flush writes what that has done.
	BatchTx(ctx context.Context, tx Tx, chats []Chat) (in ChatService, flush func(context.Context) error, err error)
}

// noChats is the chat service of runs that have no chats.
type noChats struct{}

func (noChats) Snapshot(context.Context, Chat) (Snapshot, error) { return Snapshot{}, nil }

// JumpService is a [ChatService] that knows other flows. Without one there is none to jump
// to.
type JumpService interface {
	// Jump is the run that takes over from one that jumps to another flow.
	Jump(ctx context.Context, from Run, to flow.Jump) (Start, error)
}

// ContactService is a [ChatService] that keeps contacts.
type ContactService interface {
	// ContactTx changes the contact of the run's chat.
	ContactTx(ctx context.Context, tx Tx, r Run, c flow.ContactChange) error
}

// EventService is a [ChatService] that tells others what flows say.
type EventService interface {
	// EventTx makes a data event.
	EventTx(ctx context.Context, tx Tx, r Run, e flow.DataEvent) error
}

// HandoffService is a [ChatService] with people who take chats over.
type HandoffService interface {
	// HandoffTx asks for a person.
	HandoffTx(ctx context.Context, tx Tx, r Run, h flow.Handoff) error
	// EndHandoffTx says that the run waits for the person no more.
	EndHandoffTx(ctx context.Context, tx Tx, r Run, e flow.EndHandoff) error
}

// ConsentService is a [ChatService] that shows tool calls which wait for consent. Without one
// they wait all the same.
type ConsentService interface {
	AskTx(ctx context.Context, tx Tx, r Run, a flow.Ask) error
}

// Watcher is a [ChatService] that is told of runs. RunTx is called in the transaction
// in which a run begins, begins or ceases to wait, or ends.
type Watcher interface {
	RunTx(ctx context.Context, tx Tx, r Run) error
}

// Preparer is a [ChatService] that looks at messages which say so before anybody is
// asked who answers them, also where bots keep silent: it finds values in them.
// The chat waits meanwhile. After a crash or an error it is asked again about the
// same message, so what it writes it writes once.
type Preparer interface {
	Prepare(ctx context.Context, in Incoming) error
}

// Caller makes one attempt at a call and returns its result, in the form that
// [flow.Call] names for its kind. An error that is no [*flow.Error] becomes one
// with the code effect.failed. The context ends with the call's timeout.
type Caller func(ctx context.Context, c Request) (any, error)

// Request is a call to the world.
type Request struct {
	Run  Run
	Call flow.Call // its Request is of the type that the kind names
	// Key names the call for good: all attempts of one visit to the node have
	// the same, and no other call has it.
	Key string
}
