// Package botengine is the engine of bots that are drawn in the flow editor:
// each belongs to a reference, answers its chats by a flow of package flow, and is
// kept as a draft and numbered versions.
//
// It says which bots want a message; package runtime runs them, and a program
// that has references tells it of messages (see package messaging). It knows
// neither chats nor networks itself.
//
//	runs, err := runtime.New(ctx, db, host, nil)
//	bots, err := botengine.New(ctx, db, runs, nil)
//	go runs.Run(ctx)
//	acc := bots.For(botengine.OneAccount)
//	bot, err := acc.Bots().Create(ctx, botengine.NewBot{Reference: 1, Name: "Greeter", Flow: greeter})
//	bot, err = acc.Versions().Publish(ctx, bot.ID)
//
// After that a message that is given to the runtime, in the transaction that
// stores it, is answered:
//
//	err = runs.IncomingTx(ctx, tx, runtime.Incoming{Chat: chat, Message: message, Arrival: arrival})
//
// Tables begin with botengine_. A value that breaks a rule is an [*Invalid] that
// names its field, a draft that cannot be published a [*Refused] with all that is
// wrong with it, and what is another account's is [ErrNotFound].
//
// New flows are better built with the engine of package aiflow, which has
// loops, functions and agents beside all that bots have.
package botengine
