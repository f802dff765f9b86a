package flow_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

// coverage records which outputs of node types occur in goldens.
type coverage struct {
	mu     sync.Mutex
	seen   map[string]bool
	files  int
	played int
}

func newCoverage(files []string) *coverage {
	return &coverage{seen: map[string]bool{}, files: len(files)}
}

// done counts a golden that was played to its end.
func (c *coverage) done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.played++
}

// note records the outputs of a turn. Outputs named by an author's id count for
// their family.
func (c *coverage) note(of conversation, turn *flow.Turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, row := range turn.Trace {
		c.seen[row.Type+" "+row.Output] = true
		family, _, isFamily := strings.Cut(row.Output, ":")
		if isFamily {
			c.seen[row.Type+" "+family+":"] = true
		}
		if branched(of, row) {
			c.seen[row.Type+" <id>"] = true
		}
	}
	if turn.State.Ended != nil {
		c.seen["ended "+string(turn.State.Ended.Status)] = true
	}
}

// branched reports whether the output of a row is the id of a branch.
func branched(of conversation, row flow.TraceRow) bool {
	var d struct {
		Nodes map[string]struct {
			Config struct {
				Branches, Cases []struct{ ID string }
			}
		}
	}
	_ = json.Unmarshal(of.Document, &d)
	config := d.Nodes[row.Node].Config
	return row.Output != "" && slices.ContainsFunc(append(config.Branches, config.Cases...), func(b struct{ ID string }) bool { return b.ID == row.Output })
}

// complete fails for each output of a node type that no golden goes through.
func (c *coverage) complete(t *testing.T) {
	if c.played < c.files {
		return // one was asked for by name, or failed
	}
	for _, nt := range node.NewTypes().Describe().Nodes {
		if nt.Name == "note" {
			continue // nothing leads to one
		}
		if len(nt.Outputs) == 0 {
			assert.Truef(t, c.seen[nt.Name+" "], "no golden in testdata/turns has a node of type %s", nt.Name)
		}
		for _, o := range nt.Outputs {
			name := o.Name
			if i := strings.IndexByte(name, '<'); i >= 0 {
				if name = name[:i]; name == "" {
					name = "<id>"
				}
			}
			assert.Truef(t, c.seen[nt.Name+" "+name], "no golden in testdata/turns goes through output %s of %s", o.Name, nt.Name)
		}
	}
	for _, status := range []flow.Status{flow.StatusCompleted, flow.StatusCancelled, flow.StatusFailed} {
		require.Truef(t, c.seen["ended "+string(status)], "no run of the goldens is %s", status)
	}
}
