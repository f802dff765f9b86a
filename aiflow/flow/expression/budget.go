package expression

// Limits of one expression.
const (
	MaxChars    = 2000     // characters of an expression
	MaxNodes    = 500      // nodes of its syntax tree
	MaxSteps    = 10_000   // steps of one evaluation
	MaxBytes    = 64 << 10 // bytes that one evaluation makes: texts, lists, maps
	MaxDepth    = 32       // levels of a value that is written or read as JSON
	MaxTemplate = 64 << 10 // bytes of a template's source
)

// What things cost. A step is one node evaluated, one element visited or
// scanChunk bytes of text read; 10,000 steps are about a millisecond.
const (
	scanChunk  = 256
	itemBytes  = 24 // a place in a list, with the number or text header it refers to
	entryBytes = 64 // an entry of a map
)

// Budget is what a turn's evaluations may still spend. Each evaluation takes
// from it, at most [MaxSteps] and [MaxBytes] at a time, and ends with
// [CodeSteps] or [CodeBytes] when it finds too little. It belongs to one
// goroutine.
type Budget struct {
	Steps int
	Bytes int
}

// machine is one evaluation.
type machine struct {
	env    map[string]any
	steps  int // left
	bytes  int // left
	given  Budget
	locals []local
	args   []any // of the function calls that are being made
	out    []byte
}

// local is a `let` variable or what a predicate sees.
type local struct {
	value any // the variable, or the element
	acc   any
	index int
}

// step counts n steps at the node that begins at offset at.
func (m *machine) step(n, at int) error {
	if n < 0 || n > m.steps {
		m.steps = 0
		return fail(CodeSteps, at, "takes more than the %d steps it may take", m.given.Steps)
	}
	m.steps -= n
	return nil
}

// grow counts n bytes, before they are made.
func (m *machine) grow(n, at int) error {
	if n < 0 || n > m.bytes {
		m.bytes = 0
		return fail(CodeBytes, at, "makes more than the %d bytes it may make", m.given.Bytes)
	}
	m.bytes -= n
	return nil
}

// scan counts the steps of reading n bytes of text.
func (m *machine) scan(n, at int) error { return m.step(1+n/scanChunk, at) }

// list counts a list of n elements: a step and a place for each.
func (m *machine) list(n, at int) error {
	if n > MaxBytes { // no overflow below
		return m.grow(n, at)
	}
	if err := m.grow(n*itemBytes, at); err != nil {
		return err
	}
	return m.step(n, at)
}
