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
	SeverityWarning = "warning" // it compiles, but may not do what its author means
)

// Problem is a problem of a document with its position. Path is a JSON pointer (RFC
// 6901) to an existing value of the document: a missing member is reported at its
// object.
type Problem struct {
	Severity string `json:"severity"`
	// Code is stable. "shape.…" is what a JSON Schema could find, "graph.…",
	// "expression.…" and the like concern the meaning of the document, and
	// "unknown.…" concerns references to things that do not exist.
	Code    string `json:"code"`
	NodeID  string `json:"nodeId"` // "" when it is about no node
	Path    string `json:"path"`
	At      *int   `json:"at"` // byte offset in the expression or template at Path
	Message string `json:"message"`
	Hint    string `json:"hint"` // how to fix it; "", in JSON null: unknown
}

// MarshalJSON writes an empty hint as null.
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

// Error returns the problem as the text of an error.
func (p Problem) Error() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Failed reports whether one of the problems is an error.
func Failed(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == SeverityError })
}

// sortProblems sorts problems by the rank of their nodes: those of the document
// itself come first. Problems of one node keep their order.
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

// report collects the problems of a document. It knows the position of the walk
// over the document.
type report struct {
	root     *tree // nil while the document is parsed
	path     []any // names and indices
	problems []Problem
	errors   int
}

// Limits of the problems of a document, so that a hostile document does not cost
// more than its size. Warnings do not count as errors.
const (
	maxErrors   = 200
	maxWarnings = 100
)

// full reports whether no more errors can be added.
func (r *report) full() bool { return r.errors >= maxErrors }

func (r *report) push(part any) { r.path = append(r.path, part) }
func (r *report) pop()          { r.path = r.path[:len(r.path)-1] }

// problem adds an error at the position of the walk, or below.
func (r *report) problem(code, message, hint string, at ...any) {
	r.add(Problem{Severity: SeverityError, Code: code, Message: message, Hint: hint}, at...)
}

func (r *report) warn(code, message, hint string, at ...any) {
	r.add(Problem{Severity: SeverityWarning, Code: code, Message: message, Hint: hint}, at...)
}

// add adds p. A position that the document does not have, because a default
// applies, becomes the closest one around it.
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

// pointer returns a JSON pointer (RFC 6901).
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

// nodeOf returns the id of the node that a path leads into, or "".
func nodeOf(path []any) string {
	if len(path) < 2 || path[0] != "nodes" {
		return ""
	}
	id, _ := path[1].(string)
	return id
}
