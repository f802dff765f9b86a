package flow

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Program is a compiled document. It is immutable: any number of runs may use it
// concurrently.
type Program struct {
	hash         string
	slug         string
	start        *step
	steps        map[string]*step
	functions    map[string]*Program // by slug, including those that functions call
	variables    map[string]variable
	args         map[string]variable
	returns      map[string]variable
	onError      *step // handler of errors that no node handles; may be nil
	replyTimeout time.Duration
	location     *time.Location // of the settings; never nil
	locale       string
	secret       bool         // the document has a secret variable
	answers      AnswerReader // nil: only the questions' own rules
}

// variable is the declaration of a variable, an argument or a returned value.
type variable struct {
	Typed
	initial any // the default, converted by [admit]
}

// step is a compiled node.
type step struct {
	id, typ  string
	config   Config
	next     map[string]*step
	disabled bool
	pass     string // the output of a disabled node
}

// Hash returns the hash of the document's content.
func (p *Program) Hash() string { return p.hash }

// Stepper is the behaviour of a node type: what its Config does when a run reaches
// the node. Step returns an [*Error] to take the error output.
type Stepper interface {
	Step(t *Turn) (Exit, error)
}

// Resumer is a [Stepper] that waits ([Turn.Wait]) and handles the input that ends
// the wait. It may return [ErrNotWaiting]: the input is then refused and the run
// continues to wait.
type Resumer interface {
	Stepper
	Resume(t *Turn, in Input) (Exit, error)
}

// Exit describes how a run leaves a node.
type Exit struct {
	output string
	kind   exitKind
	value  any
	node   *step
}

// exitKind is the way in which a run leaves a node.
type exitKind uint8

const (
	exitOutput   exitKind = iota
	exitWait              // stays at the node
	exitNode              // goes to a node without an output: goto, and into a function
	exitPathEnd           // the path ends, as without a connection
	exitBreak             // out of the loop around
	exitContinue          // to the loop's next round
	exitReturn            // out of the function, with value under the name output
	exitEnded             // the run is over
)

// Out returns an exit through an output.
func Out(output string) Exit { return Exit{output: output} }

// Functions returns the slugs of the functions that the program may call, directly
// or through others, sorted.
func (p *Program) Functions() []string { return slices.Sorted(maps.Keys(p.functions)) }

// Reach describes what the nodes of a document, and of the functions that they
// call, can do outside of the run. A custom node type may do anything.
type Reach struct {
	// Leaves reports that the input of the document may leave the run: by HTTP, a
	// tool, a message, an event, a change of the contact, another flow, or an agent
	// with tools.
	Leaves bool
	// Fixed reports that it leaves only to hosts that the author wrote down, and
	// only by requests that read.
	Fixed bool
	// Private reports that the document may return data of the account. Foreign
	// reports that it may return what outsiders wrote.
	Private, Foreign bool
}

// anywhere is the reach of unknown nodes.
var anywhere = Reach{Leaves: true, Private: true, Foreign: true}

// Reach returns the reach of the document with the functions that it may call, at
// any depth. A called function that is not in functions may do anything.
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

// reaching computes the reach of documents.
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

// node adds the reach of a node. Disabled nodes count, too: the result does not
// depend on which nodes are disabled.
func (w *reaching) node(n Node) {
	switch n.Type {
	case "trigger", "condition", "switch", "loop", "break", "continue", "goto", "note", "end", "return", "throw", "set", "random", "delay":
	case "wait", "extract": // the integrator's event, and values in a text
		w.add(Reach{Foreign: true})
	case "assistant": // it gets parts of the project's files
		w.add(Reach{Private: true, Foreign: true})
	case "http":
		w.add(reachOfHTTP(n.Config))
	case "call":
		var c struct{ Function string }
		w.config(n, &c)
		w.call(c.Function)
	case "agent":
		w.agent(n)
	default: // tool, message, question, handoff, event, contact, flow, and custom types
		w.add(anywhere)
	}
}

// config decodes the configuration of a node. One that cannot be decoded may do
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

// writtenHost matches an address whose host comes before any expression.
var writtenHost = regexp.MustCompile(`^(?i:https?)://[^/?#\\@{}\s]+(?:[/?#]|$)`)

// reachOfHTTP returns the reach of an HTTP node. A public resource is not data of
// the account: it needs no credential and no header that may be one.
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
