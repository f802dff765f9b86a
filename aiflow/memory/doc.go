// Package memory remembers conversations of models and contacts, so that a model
// knows the earlier messages: those of the run, of the chat, or of the contact on
// all its references.
//
// The messages that are recalled are limited in number and tokens. A call of a tool
// always stays together with its result. When there is too much, old results of
// tools are left out first, then whole turns. On request a model summarizes what
// was left out.
//
//	memories, err := memory.New(ctx, db, nil)
//	place := memory.Place{Scope: memory.ScopeChat, Run: run.ID, Chat: memory.Chat{Reference: 1, ID: "ana@sandbox"}}
//	earlier, err := memories.For(account).Recall(ctx, memory.Question{Place: place, Key: key, Messages: 20, Tokens: 8000})
//	// ask the model: earlier.Messages, then the question
//	err = memories.For(account).Remember(ctx, place, key, said)
//
// A turn has a key. Remembering a turn again, for example after a crash, replaces
// it. The tables begin with memory_. [Service.Run] deletes what is older than
// Options.Retention. [Service.EndRunTx] deletes what only one run remembers.
package memory
