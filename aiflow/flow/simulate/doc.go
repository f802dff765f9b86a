// Package simulate runs flows without a database, a network and a clock: the
// same interpreter as everywhere, in a world whose time passes when somebody
// says so, whose calls have the answers that are given, and whose messages are
// a list.
//
// A [Session] holds all of a conversation and is its JSON: whoever asks keeps
// it and gives it back, and nobody else has to. [Test] describes a whole
// conversation with what is expected of it; [Run] plays tests and says which
// nodes and outputs none of them has reached.
package simulate
