package flow

import (
	"cmp"
	"encoding/json"
	"slices"
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
