// Package flow is the language of flows: JSON documents of nodes, what they may
// contain, and what they do.
//
// It stores nothing, has no clock and does no I/O. [Decode] parses a document,
// [Types.Compile] checks and compiles it, and [Program.Step] runs it. Step takes
// the state of a run and an input, and returns the new state and the effects to
// perform:
//
//	types := node.NewTypes()
//	document, problems := flow.Decode(raw)
//	program, problems := types.Compile(document, nil)
//	turn, err := program.Step(nil, flow.Begin{}, flow.World{Now: time.Now()})
//	// store turn.State and do turn.Effects, in one transaction
//
// Package runtime, below this one, does that with a database, and package simulate
// without one. The guide for authors of flows is docs/flows.md.
//
// # Custom node types
//
// [Types.Register] adds a [NodeType]. Most types run a Go function, which
// [NodeFunc] makes their Run: it is called as an HTTP node calls an address. Others
// have a [Config], and do within a turn what the built-in types do: send, wait,
// set.
//
// # Problems and errors
//
// A [Problem] is something wrong with a document. It has a stable code and a
// position. An [Error] occurs in a run, and flows can handle it. [Program.Step]
// returns other Go errors for a wrong argument: [ErrNotWaiting],
// [ErrOtherDocument].
package flow
