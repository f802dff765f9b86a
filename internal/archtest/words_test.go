package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// privateWords are words of which only this project knew the meaning, with those
// of the field. Words that have an ordinary meaning, too (line, keep, mark, cut),
// are not among them.
var privateWords = map[string]string{
	"ail":       "health issue",
	"ailment":   "health issue",
	"arrival":   "inbound message",
	"arrive":    "ingest",
	"asides":    "side records",
	"beat":      "heartbeat",
	"begun":     "started",
	"bookkeep":  "contact store",
	"clip":      "truncate",
	"coalesce":  "batch",
	"crowded":   "contended",
	"departure": "sent record",
	"disown":    "reclaim",
	"door":      "load balancer, handler",
	"doubt":     "uncertain",
	"ear":       "subscriber",
	"errand":    "remote call",
	"errands":   "remote calls",
	"flood":     "backlog",
	"footprint": "subject data search",
	"hear":      "subscribe, receive",
	"heard":     "seen, received",
	"heed":      "subscription",
	"heeds":     "subscriptions",
	"held":      "leased, deferred",
	"hold":      "lease, defer",
	"house":     "layout, environment",
	"lacks":     "missing",
	"lane":      "queue",
	"lanes":     "queues",
	"legible":   "sanitize",
	"life":      "TTL",
	"listens":   "subscribed",
	"longest":   "max",
	"mailbox":   "inbox",
	"misses":    "missing",
	"most":      "max, limit",
	"needles":   "terms",
	"pace":      "rate",
	"pacer":     "rate limiter",
	"patience":  "timeout",
	"poke":      "notify",
	"printable": "sanitize",
	"rig":       "environment",
	"settle":    "complete",
	"settled":   "completed",
	"shelf":     "cache",
	"spoil":     "mark stale",
	"storable":  "sanitize",
	"strangers": "outreach",
	"tally":     "usage counter",
	"tell":      "publish",
	"told":      "published",
	"took":      "duration",
	"trail":     "timeline",
	"untry":     "half-open probe",
	"verdict":   "result",
	"wake":      "notify",
	"wish":      "desired state",
	"worn":      "lifetime limit",
}

// wordExceptions are identifiers in which such a word has its ordinary meaning, by
// folder and name.
var wordExceptions = map[string]string{
	"aiflow/agent.Held":                      "tokens that a budget holds back for a call",
	"aiflow/flow.shelf":                      "a shelf of books, the example of a node",
	"aiflow/flow/expression.coalesce":        "the operator ?? of expressions, as in SQL",
	"aiflow/flow/runtime.shelf":              "a shelf of books, the example of a node",
	"aiflow/knowledge.harbourHouse":          "a house, in a text that is searched",
	"aiflow/llm/openai.TestLongestAnswer":    "the longest of several",
	"aiflow/llm/usage.HeldCost":              "an amount that a budget holds back for a call",
	"aiflow/llm/usage.HeldTokens":            "an amount that a budget holds back for a call",
	"extractor/store.mostLikely":             "the most likely intent",
	"internal/queue.Held":                    "the column of a count",
	"provider/graph.TestErrorsHoldNoAddress": "to contain",
	"server.TestExamplesHoldNoTokens":        "to contain",
	"server.TestLists_HoldTheirMaximum":      "to contain",
	"server.TestPasskeys_AtMost":             "at most",
	"server.TestRightsHoldAtOnce":            "to be in force",
	"server.TestTokensOfStrangers":           "people who have no account",
	"server/internal/bridge/metrics.atMost":  "at most",
}

var wordPart = regexp.MustCompile(`[A-Z]+[0-9]*(?:_|$)|[A-Z]?[a-z]+|[A-Z]`)

// TestWords finds private words in what the source declares.
func TestWords(t *testing.T) {
	t.Parallel()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && slices.Contains([]string{"node_modules", "testdata", ".git"}, e.Name()) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".gen.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel("../..", filepath.Dir(path))
		for _, id := range declared(file) {
			for _, part := range wordPart.FindAllString(id.Name, -1) {
				if word := strings.ToLower(part); privateWords[word] != "" {
					found[filepath.ToSlash(folder)+"."+id.Name] = word
				}
			}
		}
		return err
	}))
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if wordExceptions[id] == "" {
			t.Errorf("%s: say %s instead of %s", id, privateWords[found[id]], found[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(wordExceptions)) {
		if found[id] == "" {
			t.Errorf("%s is no exception any more: remove it from the list", id)
		}
	}
}

// declared returns the names that a file declares: functions, types, constants,
// variables, fields, parameters and results.
func declared(file *ast.File) (out []*ast.Ident) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			out = append(out, n.Name)
		case *ast.TypeSpec:
			out = append(out, n.Name)
		case *ast.ValueSpec:
			out = append(out, n.Names...)
		case *ast.Field:
			out = append(out, n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				out = append(out, idents(n.Lhs)...)
			}
		case *ast.RangeStmt:
			out = append(out, idents([]ast.Expr{n.Key, n.Value})...)
		}
		return true
	})
	return out
}

func idents(exprs []ast.Expr) (out []*ast.Ident) {
	for _, e := range exprs {
		if id, ok := e.(*ast.Ident); ok {
			out = append(out, id)
		}
	}
	return out
}
