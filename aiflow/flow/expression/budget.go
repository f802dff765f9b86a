package expression

// Limits of one expression.
const (
	MaxChars    = 2000     // characters of an expression
	MaxNodes    = 500      // nodes of its syntax tree
	MaxSteps    = 10_000   // steps of one evaluation
	MaxBytes    = 64 << 10 // bytes that one evaluation allocates: texts, lists, maps
	MaxDepth    = 32       // levels of a value that is read or written as JSON
	MaxTemplate = 64 << 10 // bytes of a template's source
)

// Costs. A step is one node evaluated, one element visited or scanChunk bytes of
// text read. 10,000 steps take about a millisecond.
const (
	scanChunk  = 256
	itemBytes  = 24 // an element of a list, with the number or text header it refers to
	entryBytes = 64 // an entry of a map
)

// Budget is what remains for the evaluations of a turn. Each evaluation uses at
// most [MaxSteps] and [MaxBytes] of it, and fails with [CodeSteps] or [CodeBytes]
// when too little is left. A Budget is not safe for concurrent use.
type Budget struct {
	Steps int
	Bytes int
}

// machine is the state of one evaluation.
type machine struct {
	env    map[string]any
	steps  int // remaining
	bytes  int // remaining
	given  Budget
	locals []local
	args   []any // of the function calls that are being evaluated
	out    []byte
}

// local is a `let` variable or the element of a predicate.
type local struct {
	value any // the variable, or the element
	acc   any
	index int
}

// step charges n steps to the node at offset at.
func (m *machine) step(n, at int) error {
	if n < 0 || n > m.steps {
		m.steps = 0
		return fail(CodeSteps, at, "takes more than %d steps", m.given.Steps)
	}
	m.steps -= n
	return nil
}

// grow charges n bytes before they are allocated.
func (m *machine) grow(n, at int) error {
	if n < 0 || n > m.bytes {
		m.bytes = 0
		return fail(CodeBytes, at, "creates more than %d bytes", m.given.Bytes)
	}
	m.bytes -= n
	return nil
}

// scan charges the steps of reading n bytes of text.
func (m *machine) scan(n, at int) error { return m.step(1+n/scanChunk, at) }

// list charges a list of n elements: a step and a slot for each.
func (m *machine) list(n, at int) error {
	if n > MaxBytes { // avoids an overflow below
		return m.grow(n, at)
	}
	if err := m.grow(n*itemBytes, at); err != nil {
		return err
	}
	return m.step(n, at)
}
