// Package runtime keeps runs of flows and takes their turns: it is the
// database, the clock and the hands of package flow. Engines own flows and are
// asked for them; a [ChatService] is the chat service that they talk through.
//
// # A chat is an inbox
//
// Whatever comes for a chat (a message, a timer, the answer to a call) is a row,
// written in the transaction that makes it necessary. A chat takes one turn at
// a time, on whatever node, in the order in which its inputs came: two messages
// of one person never meet. A turn loads the run, computes it in memory, and
// commits state, trace, messages, timers and calls in one transaction, in which
// the input is removed. So an input is worked on once, however often a node
// dies.
//
// # Calls to the world
//
// A call is a row too, made by a queue of its own, outside of any transaction.
// Nothing else waits for it but its chat, whose later messages stay in order
// behind it. Its result is stored together with the input that resumes the run.
// After a crash a result is never lost; a call without one is made again if
// that is safe, and if it is not, it is made at most once: one that had begun
// ends with the code effect.unknown.
//
// # A program
//
// A [ChatService] shows chats; as a [MessageService] it also sends messages. Without
// one, nil, runs have no chats.
//
//	runs, err := runtime.New(ctx, db, host, nil)
//	go runs.Run(ctx)
//	run, err := runs.For(account).Start(ctx, runtime.Start{
//		Engine: "mine", Source: runtime.Source{Document: document}, Chat: chat, Wait: time.Minute,
//	})
//
// An [Engine] is asked which of its flows want a message that came by
// [Runtime.IncomingTx]; packages aiflow and botengine are two.
//
// # What is kept, and errors
//
// Tables begin with flow_. Runs that have ended are kept for as long as
// Options.Retention says. A source that does not compile is a [*Refused], an input
// that the document does not take a [*BadInput], and a run of another account
// [ErrNotFound]. What goes wrong in a run is in [Run].Error.
package runtime
