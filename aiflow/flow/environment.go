package flow

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// environment is what expressions see in a turn, and their budget.
type environment struct {
	frames
	World  *World
	Env    map[string]any // what expressions see
	budget *expression.Budget
}

// Now returns the time of the turn, in the time zone of the current document.
func (en *environment) Now() time.Time { return en.World.Now.In(en.graph().location) }

// Text renders a text of the node's configuration.
func (en *environment) Text(x Text) (string, error) { return x.Eval(en.Env, en.budget) }

// Data renders a value of the node's configuration.
func (en *environment) Data(x Data) (any, error) { return x.Eval(en.Env, en.budget) }

// Eval evaluates an expression of the node's configuration.
func (en *environment) Eval(x Expression) (any, error) { return x.Eval(en.Env, en.budget) }

// EvalWith is like Eval with one more name.
func (en *environment) EvalWith(x Expression, name string, v any) (any, error) {
	env := maps.Clone(en.Env)
	env[name] = v
	return x.Eval(env, en.budget)
}

// All renders the values of an object.
func (en *environment) All(fields map[string]Data) (map[string]any, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	out := make(map[string]any, len(fields))
	for _, name := range values.Names(fields) {
		v, err := en.Data(fields[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if out[name], err = admit(v); err != nil {
			return nil, named(err, name)
		}
	}
	return out, nil
}

// push pushes a frame.
func (en *environment) push(f Frame, g *Program) {
	en.state.Frames = append(en.state.Frames, f)
	en.graphs = append(en.graphs, g)
	en.rescope()
}

// drop pops the top frame.
func (en *environment) drop() Frame {
	f := *en.top()
	if g := en.graph(); g.secret {
		en.hidden = f.secrets(en.hidden, g)
	}
	en.state.Frames = en.state.Frames[:len(en.state.Frames)-1]
	en.graphs = en.graphs[:len(en.graphs)-1]
	en.rescope()
	return f
}

// rescope updates what expressions see of the frames.
func (en *environment) rescope() {
	en.path = nil
	frames := en.state.Frames
	en.base = len(frames) - 1
	for frames[en.base].Loop != nil {
		en.base--
	}
	f := &frames[en.base]
	en.Env = map[string]any{
		"vars": f.Vars, "args": ValueOf(f.Args), "error": errorValue(f.Error),
		"input": ValueOf(en.state.Input), "start": ValueOf(en.state.Start),
		"contact": ValueOf(en.World.Contact), "chat": ValueOf(en.World.Chat),
		"run": en.runValue(), "now": en.Now(),
	}
	for i := en.base + 1; i < len(frames); i++ {
		en.showLoop(&frames[i], en.graphs[i])
	}
}

// showLoop adds the item and the index of a loop.
func (en *environment) showLoop(f *Frame, g *Program) {
	c := g.steps[f.Node].config.(looper).LoopRole()
	en.Env[c.Index] = f.Loop.Index
	en.Env[c.Item] = f.Loop.item()
}

// showError adds an error to what expressions of the current document see.
func (en *environment) showError(e *Error) {
	en.Scope().Error = e
	en.Env["error"] = errorValue(e)
}

// runValue returns the value of run in expressions.
func (en *environment) runValue() map[string]any {
	return map[string]any{"id": en.World.Run.ID, "startedAt": en.World.Run.StartedAt.In(en.graph().location)}
}

// Environment lists what a document may refer to. Nil fields are not checked; an
// empty list means that nothing of the kind exists.
type Environment struct {
	Engine string // engine that will run the document: EngineBot or EngineFlow
	// Published reports that the document was published before. A custom node type
	// that has disappeared since is then not a problem: runs that reach such a node
	// take its error output, or fail, with the code unknown.type.
	Published bool
	// Functions are the functions of the project by slug. They are compiled with
	// the document that calls them, and may call each other.
	Functions map[string]*Document
	// Unpublished reports whether a function that is not in Functions exists as a
	// draft. nil: none does.
	Unpublished func(slug string) bool
	Flows       []string            // slugs
	Models      []string            // provider/model; "provider/*" for all of a provider
	Servers     map[string][]string // tools of MCP servers by the server's name; nil: not known
	Tools       []string            // functions of the registry
	Extractors  map[string]string   // kinds by id
	Credentials []string            // ids
	Channels    []Channel           // references for which the document will run
}

// Channel describes the abilities of a kind of reference.
type Channel struct {
	Kind string   // "provider-cloud"
	Send []string // types of messages; others are sent as text or refused
	Text int      // maximum characters of a text; 0: the maximum of a message
}

// referring is a configuration that refers to an environment.
type referring interface {
	Refer(c *Checker, env *Environment)
}

// inEnvironment makes the third pass. It links the program to its functions.
func (t *Types) inEnvironment(d *Document, c *compiled, env *Environment) (*Program, []Problem) {
	r := &report{root: d.root}
	for _, v := range c.graph.order {
		if v.config == nil || !v.sound {
			continue
		}
		if k, ok := v.config.(referring); ok {
			r.path = []any{"nodes", v.id, "config"}
			k.Refer(&Checker{report: r, Document: d, graph: c.graph, vertex: v}, env)
			r.path = nil
		}
		if !v.typ.runs(env.Engine) {
			r.problem("node.engine", v.node.Type+" is not available in the engine "+env.Engine, "", "nodes", v.id, "type")
		}
	}
	if env.Engine != "" && d.Engine != "" && d.Engine != env.Engine {
		r.problem("document.engine", "is for the engine "+d.Engine+", not "+env.Engine, "", "engine")
	}
	l := linker{types: t, report: r, environment: env, programs: map[string]*Program{}}
	return l.link(d, c), r.problems
}

// Refer reports a name that is not in names.
func (c *Checker) Refer(what, name string, names []string, at ...any) {
	if names != nil && !slices.Contains(names, name) {
		c.Problem("unknown."+what, "there is no "+what+" "+values.Shorten(name), values.DidYouMean(name, names), at...)
	}
}

// Function returns the function that a node calls.
func (c *Checker) Function(slug string, env *Environment, at ...any) *Document {
	f := env.Functions[slug]
	if f == nil && c.Document.Kind == KindFunction && c.Document.Slug == slug {
		f = c.Document
	}
	switch {
	case f == nil:
		if env.Unpublished != nil && env.Unpublished(slug) {
			c.Problem("unknown.function", "the function "+values.Shorten(slug)+" is not published", "publish the function first", at...)
			return nil
		}
		c.Problem("unknown.function", "there is no function "+values.Shorten(slug), values.DidYouMean(slug, keys(env.Functions)), at...)
	case f.Kind != KindFunction:
		c.Problem("unknown.function", slug+" is a flow", "use a flow node to start a flow", at...)
		return nil
	}
	return f
}

// ReturnNames returns the names of the function's returns.
func (d *Document) ReturnNames() []string {
	var names []string
	for _, id := range keys(d.Nodes) {
		if d.Nodes[id].Type != "return" {
			continue
		}
		name := "default"
		if t := d.root.at("nodes", id, "config", "name"); t != nil {
			name = t.text
		}
		names = append(names, name)
	}
	return names
}

// Extractor reports an extractor that does not exist in the environment.
func (c *Checker) Extractor(id, kind string, env *Environment, at ...any) {
	found, ok := env.Extractors[id]
	switch {
	case env.Extractors == nil:
	case !ok:
		c.Problem("unknown.extractor", "there is no extractor "+values.Shorten(id), "", at...)
	case found != kind:
		c.Problem("unknown.extractor", "the extractor is of kind "+found+", not "+kind, "", at...)
	}
}

// Model reports a model that does not exist in the environment.
func (c *Checker) Model(name string, env *Environment, at ...any) {
	provider, _, _ := strings.Cut(name, "/")
	if !slices.Contains(env.Models, provider+"/*") {
		c.Refer("model", name, env.Models, at...)
	}
}

// Server reports a server that does not exist in the environment.
func (c *Checker) Server(name string, env *Environment, at ...any) bool {
	if env.Servers == nil {
		return true
	}
	_, ok := env.Servers[name]
	if !ok {
		c.Problem("unknown.server", "there is no MCP server "+values.Shorten(name), values.DidYouMean(name, keys(env.Servers)), at...)
	}
	return ok
}

// Tool reports a tool that its server does not have.
func (c *Checker) Tool(server, name string, env *Environment, at ...any) {
	c.Refer("tool", name, env.Servers[server], at...)
}

func (t *triggerConfig) Refer(c *Checker, env *Environment) {
	if env.Channels == nil {
		return
	}
	var names []string
	for _, ch := range env.Channels {
		names = append(names, ch.Kind)
	}
	for i, name := range t.Channels {
		if !slices.Contains(names, name) {
			c.Warn("unknown.channel", "there is no reference of type "+values.Shorten(name), values.DidYouMean(name, names), "channels", i)
		}
	}
}

// maxFunctions limits the functions that a document needs.
const maxFunctions = 100

// linker links a program with the functions that it calls, directly or through
// others. All share one map of programs, so that they may call each other and
// themselves.
type linker struct {
	types       *Types
	report      *report
	environment *Environment
	programs    map[string]*Program
	queue       []called
}

// called is a function that a node calls.
type called struct {
	slug string
	by   string // the function that calls it; "" for the document
	at   []any  // position in the document of the first call
}

func (l *linker) link(d *Document, c *compiled) *Program {
	program := *c.program
	program.functions = l.programs
	if d.Kind == KindFunction && d.Slug != "" {
		l.programs[d.Slug] = &program
	}
	for _, v := range c.graph.order {
		for slug, at := range v.functions() {
			l.queue = append(l.queue, called{slug: slug, at: append([]any{"nodes", v.id, "config"}, at...)})
		}
	}
	for ; len(l.queue) > 0 && l.environment.Functions != nil; l.queue = l.queue[1:] {
		l.add(l.queue[0])
	}
	return &program
}

// add links one function. It reports problems of the function at the position in
// the document that calls it.
func (l *linker) add(f called) {
	if l.programs[f.slug] != nil || l.report.full() {
		return
	}
	if len(l.programs) == maxFunctions {
		l.report.problem("document.functions", fmt.Sprintf("needs more than %d functions", maxFunctions), "", f.at...)
		return
	}
	d := l.environment.Functions[f.slug]
	switch {
	case d == nil && f.by == "":
		return // the problem is reported with the node
	case d == nil || d.root == nil:
		l.report.problem("unknown.function", "the function "+f.by+" calls "+values.Shorten(f.slug)+", which does not exist", "", f.at...)
		return
	}
	c := l.types.compiled(d)
	if Failed(d.problems) || Failed(c.problems) || len(c.gone) > 0 && !l.environment.Published {
		l.report.problem("function.broken", "the function "+f.slug+" has errors", "correct the errors first", f.at...)
		return
	}
	program := *c.program
	program.functions = l.programs
	l.programs[f.slug] = &program
	for _, v := range c.graph.order {
		for slug := range v.functions() {
			l.queue = append(l.queue, called{slug, f.slug, f.at})
		}
	}
}

// functions yields the functions that a node calls, and the position of each name.
func (v *vertex) functions() func(yield func(slug string, at []any) bool) {
	return func(yield func(string, []any) bool) {
		if c, ok := v.config.(functional); ok {
			c.UsesFunctions(yield)
		}
	}
}
