// Package agent lets a model work with tools until it has an answer, within
// bounds: it answers the calls of a flow's agent node.
//
//	models, err := llm.NewModels(map[string]llm.Model{"openai": openai})
//	ledger, err := usage.New(ctx, db, nil)
//	agents, err := agent.New(ctx, db, models, ledger, &agent.Options{Tools: tools})
//	runs, err := runtime.New(ctx, db, host, &runtime.Options{
//		Callers: map[flow.CallKind]runtime.Caller{flow.CallAgent: agents.Act},
//	})
//
// A tool is a [llm.Tool]: a description and a Go function. Options.Tools says which
// of them the agent of a flow may have.
//
// # The journal
//
// Every answer of the model and every call of a tool is an entry, written when
// it is begun and again when it is done, the latter in one transaction with
// what it took. After a crash what was done is read and never asked for again.
// An answer that was begun is asked for once more, and stays in the ledger as
// a call whose use of tokens is not known. A tool call that was begun is
// repeated if the tool says that this is safe; if it does not, the model is
// told that it is not known whether it was made.
//
// # The bounds
//
// A model may be mistaken, and what it reads may have been written by someone
// who means ill. So it has only the tools that its flow names; what they return
// is shown to it as data; what a call takes from the run, such as the chat, is
// no argument of its own; calls that take away or overwrite, and those that
// carry private data to where strangers may have asked for it, wait until a
// person approves. Its answers, calls, tokens and time are counted, and why it
// stopped is always said: [Stop].
//
// Its tables begin with agent_.
package agent
