package flow

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// The severities of a [Problem].
const (
	SeverityError   = "error"   // a document with one does not compile
	SeverityWarning = "warning" // it does, but does perhaps not what its author means
)

// Problem is what is wrong with a document, and where. Path is a JSON pointer
// (RFC 6901) to a value that the document has: what is missing is reported at
// the object that lacks it.
type Problem struct {
	Severity string `json:"severity"`
	// Code is stable: "shape.…" is what a JSON Schema could tell, "graph.…",
	// "expression.…" and the like is what the document means, "unknown.…" what
	// it refers to and is not there.
	Code    string `json:"code"`
	NodeID  string `json:"nodeId"` // "" when it is about no node
	Path    string `json:"path"`
	At      *int   `json:"at"` // byte offset in the expression or template at Path
	Message string `json:"message"`
	Hint    string `json:"hint"` // how to put it right; "", in JSON null: not known
}

// MarshalJSON writes a hint that is not there as null.
func (p Problem) MarshalJSON() ([]byte, error) {
	type plain Problem
	out := struct {
		plain
		Hint *string `json:"hint"`
	}{plain: plain(p)}
	if p.Hint != "" {
		out.Hint = &p.Hint
	}
	return json.Marshal(out)
}

// Error makes a Problem an error, for callers who need but one.
func (p Problem) Error() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Failed says whether one of the problems is an error.
func Failed(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == SeverityError })
}

// sortProblems puts problems in the order of rank, which knows nodes: those of
// the document itself first. Two about one value stay as they were found.
func sortProblems(problems []Problem, rank map[string]int) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(rankOf(rank, a.NodeID), rankOf(rank, b.NodeID)),
			strings.Compare(a.NodeID, b.NodeID),
		)
	})
}

func rankOf(rank map[string]int, id string) int {
	if id == "" {
		return -1
	}
	if r, ok := rank[id]; ok {
		return r
	}
	return len(rank)
}

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
// is there, becomes the closest one around it.
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
