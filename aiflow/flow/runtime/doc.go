// Package runtime keeps runs of flows and takes their turns: it is the
// database, the clock and the hands of package flow. Engines own flows and are
// asked for them; a [Host] is the chat service that they talk through.
//
// # A chat is a mailbox
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
//	rt, err := runtime.New(ctx, db, host, nil)
//	rt.Serve(engine)
//	go rt.Run(ctx)
//	run, err := rt.For(account).Start(ctx, runtime.Start{Engine: "mine", Source: runtime.Source{Document: doc}})
package runtime
