package flow

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
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
	onError      *step // where errors go that no node took; may be nil
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

// Reach says what the nodes of a document do beyond its run, with those of the
// functions that they call. A node of a type that is not built in may do
// anything.
type Reach struct {
	// Leaves says that what the document is given may leave its run: by HTTP, a
	// tool, a message, an event, a change of the contact, another flow, or an
	// agent that has tools.
	Leaves bool
	// Fixed says that it leaves only to hosts that the author wrote down, and
	// only by requests that read.
	Fixed bool
	// Private says that the document may give back what belongs to the account,
	// Foreign that strangers may have written what it gives back.
	Private, Foreign bool
}

// anywhere is the reach of what is not known.
var anywhere = Reach{Leaves: true, Private: true, Foreign: true}

// Reach is that of the document, with the functions that it may call, in
// whatever depth. A function that is called and not among them may do anything.
func (d *Document) Reach(functions []*Document) Reach {
	w := reaching{functions: map[string]*Document{}, seen: map[*Document]bool{}, found: Reach{Fixed: true}}
	for _, f := range functions {
		w.functions[f.Slug] = f
	}
	if d.Kind == KindFunction {
		w.functions[d.Slug] = d
	}
	w.document(d)
	w.found.Fixed = w.found.Fixed && w.found.Leaves
	return w.found
}

// reaching walks through documents.
type reaching struct {
	functions map[string]*Document
	seen      map[*Document]bool
	found     Reach
}

func (w *reaching) document(d *Document) {
	if w.seen[d] {
		return
	}
	w.seen[d] = true
	for _, n := range d.Nodes {
		w.node(n)
	}
}

func (w *reaching) add(r Reach) {
	w.found.Leaves = w.found.Leaves || r.Leaves
	w.found.Private = w.found.Private || r.Private
	w.found.Foreign = w.found.Foreign || r.Foreign
	if r.Leaves {
		w.found.Fixed = w.found.Fixed && r.Fixed
	}
}

// node adds the reach of a node. Nodes that are switched off count, too: the
// answer does not depend on what is switched.
func (w *reaching) node(n Node) {
	switch n.Type {
	case "trigger", "condition", "switch", "loop", "break", "continue", "goto", "note", "end", "return", "throw", "set", "random", "delay":
	case "wait", "extract": // the integrator's event, and what is in a text
		w.add(Reach{Foreign: true})
	case "assistant": // it is told of the project's files
		w.add(Reach{Private: true, Foreign: true})
	case "http":
		w.add(reachOfHTTP(n.Config))
	case "call":
		var c struct{ Function string }
		w.config(n, &c)
		w.call(c.Function)
	case "agent":
		w.agent(n)
	default: // tool, message, question, handoff, event, contact, flow, and those that are not built in
		w.add(anywhere)
	}
}

// config reads the configuration of a node. One that cannot be read may be
// anything.
func (w *reaching) config(n Node, to any) {
	if len(n.Config) > 0 && json.Unmarshal(n.Config, to) != nil {
		w.add(anywhere)
	}
}

func (w *reaching) call(slug string) {
	if f := w.functions[slug]; f != nil {
		w.document(f)
		return
	}
	w.add(anywhere)
}

func (w *reaching) agent(n Node) {
	var c struct{ Servers, Tools, Functions []string }
	w.config(n, &c)
	w.add(Reach{Private: true, Foreign: true})
	if len(c.Servers)+len(c.Tools) > 0 {
		w.add(anywhere)
	}
	for _, slug := range c.Functions {
		w.call(slug)
	}
}

// writtenHost is an address whose host is before any expression.
var writtenHost = regexp.MustCompile(`^(?i:https?)://[^/?#\\@{}\s]+(?:[/?#]|$)`)

// reachOfHTTP is that of an HTTP node. What is public is not the account's:
// that needs no credential, and no header that may be one.
func reachOfHTTP(config json.RawMessage) Reach {
	c := struct {
		Method, URL, Auth string
		Headers           map[string]json.RawMessage
	}{Method: "GET"}
	if json.Unmarshal(config, &c) != nil {
		return anywhere
	}
	reads := slices.Contains([]string{"", "GET", "HEAD"}, strings.ToUpper(c.Method))
	return Reach{
		Leaves: true, Fixed: reads && writtenHost.MatchString(c.URL),
		Private: !reads || c.Auth != "" || len(c.Headers) > 0, Foreign: true,
	}
}
