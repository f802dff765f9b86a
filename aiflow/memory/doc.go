// Package memory keeps what models and contacts said to each other, so that
// the next question finds what came before: that of the run, of the chat, or
// of the contact on all its references.
//
// What is recalled is bounded in messages and tokens. A call of a tool is never
// parted from its result: results of long ago are left out first, then whole
// turns; on request a model sums up what fell out.
//
//	memories, err := memory.New(ctx, db, nil)
//	place := memory.Place{Scope: memory.ScopeChat, Run: run.ID, Chat: memory.Chat{Reference: 1, ID: "ana@sandbox"}}
//	earlier, err := memories.For(account).Recall(ctx, memory.Question{Place: place, Key: key, Messages: 20, Tokens: 8000})
//	// ask the model: earlier.Messages, then the question
//	err = memories.For(account).Remember(ctx, place, key, said)
//
// A turn is kept under its key: to remember it again, after a crash say, replaces
// it. Its tables begin with memory_; what is older than Options.Retention is
// forgotten by [Service.Run], what only a run remembers with [Service.EndRunTx].
package memory
