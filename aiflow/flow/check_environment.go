package flow

import (
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Environment is what a document may refer to. What is nil is not checked; a
// list without members means that there is nothing of the kind.
type Environment struct {
	Engine string // that will run it: EngineBot or EngineFlow
	// Published says that the document was published before. A node type of
	// one's own that is gone since is no problem then: runs that come to such a
	// node take its error output, or fail, with the code unknown.type.
	Published bool
	// Functions are by slug the functions of the project. They are compiled
	// with the document that calls them, and may call each other.
	Functions map[string]*Document
	// Unpublished says whether a function that is not among Functions is there as
	// a draft. nil: none is.
	Unpublished func(slug string) bool
	Flows       []string            // slugs
	Models      []string            // provider/model; "provider/*" for all of a provider
	Servers     map[string][]string // tools of MCP servers by the server's name; nil: not known
	Tools       []string            // functions of the registry
	Extractors  map[string]string   // kinds by id
	Credentials []string            // ids
	Channels    []Channel           // the lines that the document will work on
}

// Channel is what a kind of line can do.
type Channel struct {
	Kind string   // "provider-cloud"
	Send []string // types of messages; others are sent as text, or refused
	Text int      // characters of a text at most; 0: as many as a message may have
}

// referring is a configuration that refers to an environment.
type referring interface {
	Refer(c *Checker, env *Environment)
}

// inEnvironment is the third pass. It links the program to its functions.
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
			r.problem("node.engine", v.node.Type+" is no node of the engine "+env.Engine, "", "nodes", v.id, "type")
		}
	}
	if env.Engine != "" && d.Engine != "" && d.Engine != env.Engine {
		r.problem("document.engine", "is for the engine "+d.Engine+", not "+env.Engine, "", "engine")
	}
	l := linker{types: t, report: r, environment: env, programs: map[string]*Program{}}
	return l.link(d, c), r.problems
}

// refer checks a name against those that exist.
func (c *Checker) Refer(what, name string, names []string, at ...any) {
	if names != nil && !slices.Contains(names, name) {
		c.Problem("unknown."+what, "there is no "+what+" "+shorten(name), values.DidYouMean(name, names), at...)
	}
}

// function finds the function that a node calls.
func (c *Checker) Function(slug string, env *Environment, at ...any) *Document {
	f := env.Functions[slug]
	if f == nil && c.Document.Kind == KindFunction && c.Document.Slug == slug {
		f = c.Document
	}
	switch {
	case f == nil:
		if env.Unpublished != nil && env.Unpublished(slug) {
			c.Problem("unknown.function", "the function "+shorten(slug)+" is not published", "publish it first", at...)
			return nil
		}
		c.Problem("unknown.function", "there is no function "+shorten(slug), values.DidYouMean(slug, keys(env.Functions)), at...)
	case f.Kind != KindFunction:
		c.Problem("unknown.function", slug+" is a flow", "a flow is begun with a flow node", at...)
		return nil
	}
	return f
}

// returnNames are the names by which a function returns.
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

func (c *Checker) Extractor(id, kind string, env *Environment, at ...any) {
	found, ok := env.Extractors[id]
	switch {
	case env.Extractors == nil:
	case !ok:
		c.Problem("unknown.extractor", "there is no extractor "+shorten(id), "", at...)
	case found != kind:
		c.Problem("unknown.extractor", "the extractor is of kind "+found+", not "+kind, "", at...)
	}
}

func (c *Checker) Model(name string, env *Environment, at ...any) {
	provider, _, _ := strings.Cut(name, "/")
	if !slices.Contains(env.Models, provider+"/*") {
		c.Refer("model", name, env.Models, at...)
	}
}

func (c *Checker) Server(name string, env *Environment, at ...any) bool {
	if env.Servers == nil {
		return true
	}
	_, ok := env.Servers[name]
	if !ok {
		c.Problem("unknown.server", "there is no MCP server "+shorten(name), values.DidYouMean(name, keys(env.Servers)), at...)
	}
	return ok
}

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
			c.Warn("unknown.channel", "there is no line of kind "+shorten(name), values.DidYouMean(name, names), "channels", i)
		}
	}
}

// asText are the kinds that a line which lacks them sends as numbered text.
var AsText = []string{"buttons", "list", "poll"}
