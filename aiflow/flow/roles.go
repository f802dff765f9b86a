package flow

// What a [Config] may be to the program besides a step of its own. The program
// finds it by assertion: no part of it names a type of node.
type (
	// looper runs the nodes behind its output body again and again.
	looper interface {
		// loopRole says what expressions in the body call the item and the index,
		// and of what kind the item is.
		LoopRole() LoopRole
	}

	// caller runs a function, whose value it saves.
	caller interface{ SavesTo() string }

	// jumper goes on at a node without a connection.
	jumper interface{ Target() string }

	// functional names functions that its node calls, and where.
	functional interface {
		UsesFunctions(yield func(slug string, at []any) bool)
	}

	// passer knows through which output its node is left when it is disabled.
	passer interface{ PassOutput() string }

	// asker says what answer is in its expressions.
	asker interface{ Expects() string }
)

// loopRole is what the program must know of a loop.
type LoopRole struct {
	Item, Index string
	Numbers     bool // the item is a number
	Collects    bool
	GoesOn      bool // with the next round after an error in one
}
