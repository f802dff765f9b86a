package flow

import (
	"maps"
	"regexp"
	"slices"
)

// Checker is what a [Config] reports to while its document is compiled. Places
// are given relative to the configuration, as names and indices:
// "choices", 2, "id". One that is not in the document, because its value is
// missing or a default, becomes the closest that is.
type Checker struct {
	report   *report // stands at the node's configuration
	Document *Document
	graph    *graph
	vertex   *vertex
	ids      map[string]bool // taken by ownID
}

// Problem reports an error: the document cannot be published.
func (c *Checker) Problem(code, message, hint string, at ...any) {
	c.report.problem(code, message, hint, at...)
}

// Warn reports what may be meant otherwise.
func (c *Checker) Warn(code, message, hint string, at ...any) {
	c.report.warn(code, message, hint, at...)
}

// Need reports a member that is missing although the rest of the
// configuration needs it, unless given.
func (c *Checker) Need(given bool, at ...any) {
	if given || len(at) == 0 {
		return
	}
	name, _ := at[len(at)-1].(string)
	c.Problem("config.required", "lacks "+name, "", at[:len(at)-1]...)
}

// Regexp compiles a regular expression (RE2). It is nil when that is one
// problem more.
func (c *Checker) Regexp(pattern string, at ...any) *regexp.Regexp {
	re, err := regexp.Compile(pattern)
	if err != nil {
		c.Problem("value.regex", err.Error(), "regular expressions are those of RE2", at...)
		return nil
	}
	return re
}

// Wired are the outputs that the document connects, in the order of their
// names.
func (c *Checker) Wired() []string { return slices.Sorted(maps.Keys(c.vertex.node.Next)) }

// next reports a problem of a connection.
func (c *Checker) Next(code, output, message, hint string) {
	path := c.report.path
	c.report.path = []any{"nodes", c.vertex.id, "next", output}
	c.report.problem(code, message, hint)
	c.report.path = path
}

// ownID checks an id that names an output or a choice: it is none of the
// type's fixed outputs, and stands once.
func (c *Checker) OwnID(id string, at ...any) {
	for _, o := range c.vertex.typ.Outputs {
		if o.Name == id {
			c.Problem("config.reserved", id+" is an output of every "+c.vertex.typ.Name, "give it another id", at...)
			return
		}
	}
	if c.ids[id] {
		c.Problem("config.twice", "the id "+id+" stands twice", "give it another id", at...)
	}
	c.ids[id] = true
}

// leadsTo checks a node that is gone to without a connection.
func (c *Checker) LeadsTo(id string, at ...any) {
	if code, message, hint := c.graph.target(id); code != "" {
		c.Problem(code, message, hint, at...)
	}
}

// inLoop checks that a loop is around the node.
func (c *Checker) InLoop() {
	switch v := c.vertex; {
	case !v.reached:
	case !v.may.loops():
		c.Problem("loop.outside", "is in no loop", "it must be reached from the output body of a loop")
	case !v.must.loops():
		c.Warn("loop.outside", "can also be reached outside of a loop, where it is an error", "")
	}
}

// ownRoot checks a name that expressions see besides the fixed ones.
func (c *Checker) OwnRoot(name string, at ...any) {
	if slices.Contains(fixedRoots, name) {
		c.Problem("loop.names", name+" means something else already", "give it another name", at...)
	}
}

// shortText checks the length of a text without expressions.
func (c *Checker) ShortText(t Text, most int, at ...any) {
	if text, constant := t.Constant(); constant && len([]rune(text)) > most {
		c.Problem("shape.length", "has more than "+Count(most, "character"), "", at...)
	}
}

// degrees checks a coordinate.
func (c *Checker) Degrees(d Data, most float64, at ...any) {
	v, constant := d.Constant()
	if !constant {
		return
	}
	n, err := Conform(v, "number")
	f, _ := n.(float64)
	if i, whole := n.(int); whole {
		f = float64(i)
	}
	if err != nil || n == nil || f < -most || f > most {
		c.Problem("message.location", "is no coordinate", "", at...)
	}
}

func (c *Checker) Timezone(name string, at ...any) { c.report.timezone(name, at...) }

// once finds what stands twice among things that must differ.
type once struct {
	*Checker
	code string
	seen map[string]bool
}

func NewOnce(c *Checker, code string) once { return once{c, code, map[string]bool{}} }

func (o once) See(what string, at []any) {
	if o.seen[what] {
		o.Problem(o.code, "the "+shorten(what)+" stands twice", "", at...)
	}
	o.seen[what] = true
}

// text is see for a text, when it has no expressions.
func (o once) Text(what string, t Text, at []any) {
	if text, constant := t.Constant(); constant && text != "" {
		o.See(what+" "+text, at)
	}
}

// below is the place of something in what stands at a place.
func Below(at []any, parts ...any) []any { return append(at[:len(at):len(at)], parts...) }

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
