// Package flow is the language of flows: JSON documents of nodes, what may
// be in them, and what they do.
//
// It holds no data, knows no clock and does no I/O. A document is read with
// [Decode], checked and made ready with [Types.Compile], and run by
// [Program.Step], which takes the state of a run and what came in, and gives
// back the new state and the effects that the world is to have:
//
//	types := node.NewTypes()
//	document, problems := flow.Decode(raw)
//	program, problems := types.Compile(document, nil)
//	turn, err := program.Step(nil, flow.Begin{}, flow.World{Now: time.Now()})
//	// store turn.State and do turn.Effects, in one transaction
//
// Package runtime, below this one, does that on a database, and package simulate
// without one. What people who write flows need to know is in docs/flows.md.
//
// # Node types of one's own
//
// [Types.Register] adds a [NodeType]: most run a Go function, made their Run by
// [NodeFunc], which is called as an HTTP node calls an address. Others have a
// [Config], and do in a turn what the built-in ones do: send, wait, set.
//
// # What is wrong, and what goes wrong
//
// What is wrong with a document is a list of [Problem], each with a stable code
// and its place. What goes wrong in a run is an [Error], which flows handle
// themselves; Go errors of [Program.Step] say that the caller gave it something
// that does not belong there: [ErrNotWaiting], [ErrOtherDocument].
package flow
