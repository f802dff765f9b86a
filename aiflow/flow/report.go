package flow

import (
	"strconv"
	"strings"
)

// report gathers the problems of a document. It knows where a walk over it
// stands.
type report struct {
	root     *tree // nil while it is read
	path     []any // names and indices
	problems []Problem
	errors   int
}

// What is reported of one document at most: a hostile one shall not cost more
// than its size. Warnings take no room from errors.
const (
	maxErrors   = 200
	maxWarnings = 100
)

// full says that looking for more errors is in vain.
func (r *report) full() bool { return r.errors >= maxErrors }

func (r *report) push(part any) { r.path = append(r.path, part) }
func (r *report) pop()          { r.path = r.path[:len(r.path)-1] }

// problem adds an error at where the walk stands, or below.
func (r *report) problem(code, message, hint string, at ...any) {
	r.add(Problem{Severity: SeverityError, Code: code, Message: message, Hint: hint}, at...)
}

func (r *report) warn(code, message, hint string, at ...any) {
	r.add(Problem{Severity: SeverityWarning, Code: code, Message: message, Hint: hint}, at...)
}

// add adds p. A place that the document does not have, because a default
// stands there, becomes the closest one around it.
func (r *report) add(p Problem, at ...any) {
	if p.Severity == SeverityError {
		if r.full() {
			return
		}
		r.errors++
	} else if len(r.problems)-r.errors >= maxWarnings {
		return
	}
	path := append(r.path[:len(r.path):len(r.path)], at...)
	if r.root != nil {
		path = path[:r.root.has(path)]
	}
	p.Path, p.NodeID = pointer(path), nodeOf(path)
	r.problems = append(r.problems, p)
}

// pointer writes a JSON pointer (RFC 6901).
func pointer(path []any) string {
	var b strings.Builder
	for _, part := range path {
		b.WriteByte('/')
		switch part := part.(type) {
		case string:
			_, _ = escapePointer.WriteString(&b, part)
		case int:
			b.WriteString(strconv.Itoa(part))
		}
	}
	return b.String()
}

// nodeOf is the node that a path leads into, or "".
func nodeOf(path []any) string {
	if len(path) < 2 || path[0] != "nodes" {
		return ""
	}
	id, _ := path[1].(string)
	return id
}
