package flow

import (
	"maps"
	"slices"
	"time"
)

// Program is a document made ready to run. It never changes: any number of
// runs may use it at the same time.
type Program struct {
	hash         string
	slug         string
	start        *step
	steps        map[string]*step
	functions    map[string]*Program // by slug; those of the functions too
	variables    map[string]variable
	args         map[string]variable
	returns      map[string]variable
	onError      *step // where errors go that nobody took; may be nil
	replyTimeout time.Duration
	location     *time.Location // of the settings; never nil
	locale       string
	secret       bool         // a variable of this document is secret
	answers      AnswerReader // nil: questions understand answers by themselves
}

// variable is what a document declares of a variable, an argument or a
// returned value.
type variable struct {
	Typed
	initial any // the default, as [admit] makes it
}

// step is a node made ready to run.
type step struct {
	id, typ  string
	config   Config
	next     map[string]*step
	disabled bool
	pass     string // the output of a disabled node
}

// Hash names the document by its content.
func (p *Program) Hash() string { return p.hash }

// Stepper is a node type's behaviour: what its Config does when a run comes
// to the node. Step returns an [*Error] to take the error output.
type Stepper interface {
	Step(t *Turn) (Exit, error)
}

// Resumer is a [Stepper] that waits ([Turn.Wait]) and takes what it waited
// for. It may return [ErrNotWaiting]: the input is refused and the run waits
// as before.
type Resumer interface {
	Stepper
	Resume(t *Turn, in Input) (Exit, error)
}

// Exit is how a run leaves a node.
type Exit struct {
	output string
	kind   exitKind
	value  any
	node   *step
}

// exitKind says how a node is left.
type exitKind uint8

const (
	exitOutput   exitKind = iota
	exitWait              // stays at the node
	exitNode              // goes to a node without an output: goto, and into a function
	exitPathEnd           // as if nothing were connected
	exitBreak             // out of the loop around
	exitContinue          // to the loop's next round
	exitReturn            // out of the function, with value under the name output
	exitEnded             // the run is over
)

// Out leaves a node by one of its outputs.
func Out(output string) Exit { return Exit{output: output} }

// Functions are the slugs of the functions that the program can come to, in
// order.
func (p *Program) Functions() []string { return slices.Sorted(maps.Keys(p.functions)) }
