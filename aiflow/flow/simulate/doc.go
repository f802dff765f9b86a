// Package simulate runs flows without a database, a network and a clock: the
// same interpreter as everywhere, in a world whose time passes when a step
// says so, whose calls have the answers that are given, and whose messages are
// a list.
//
// A [Session] holds all of a conversation and is its JSON: the caller keeps
// it and gives it back. [Test] describes a whole
// conversation with what is expected of it; [Run] plays tests and says which
// nodes and outputs none of them has reached.
//
//	session, result, err := simulate.Start(program, simulate.Given{})
//	result, err = session.Happen(program, simulate.Step{Send: &simulate.Message{"text": "Ana"}})
//	result, err = session.Advance(program, 2*time.Hour)
//	for _, did := range result.Did {
//		fmt.Println(did.Kind, did.Node, did.Data())
//	}
//
// [Replay] has a program live through the past of a run, and [Compare] tells what
// two programs make differently of it. What cannot be played is an [*Invalid] with
// its place; a flow that does not stop is [ErrEndless].
package simulate
