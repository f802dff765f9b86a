// Package runtimetest stops nodes in the middle of conversations. A [Script],
// a file with a flow and what a contact says, is played on a node that dies
// after its first commit, then on one that dies after its second, and so on;
// another node takes over each time. [Crash] checks that the contact does not
// notice. Whatever is built on package runtime has its conversations stopped
// that way by being a [Node].
//
//	for name, script := range runtimetest.Scripts(t, "testdata/crash") {
//		t.Run(name, func(t *testing.T) { runtimetest.Crash(t, script, open) })
//	}
package runtimetest
