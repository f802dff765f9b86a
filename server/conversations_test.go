package server_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// housed configures a server for conversations.
func housed(clock *wallClock, afterCommit func(string)) func(*server.Config) {
	return func(c *server.Config) {
		c.Now, c.WebhookAllow, c.Exclusive = clock.Now, []string{"127.0.0.1"}, true
		c.Logger = slog.New(slog.DiscardHandler)
		c.ChangeFlows(func(o *runtime.Options) {
			o.AfterCommit = afterCommit
			o.Extractor = func(string) flow.Extractor { return wordList{} }
		})
	}
}

// TestConversations has every conversation on a server, and compares what the
// contact is shown, and all else that comes of it, with the goldens.
func TestConversations(t *testing.T) {
	t.Parallel()
	all := conversations(t)
	require.GreaterOrEqual(t, len(all), 40)
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		clock := newWallClock()
		h := &env{db: db, clock: clock, server: working(t, setupOn(t, db, housed(clock, func(string) {})))}
		eachConversation(t, all, func(t *testing.T, name string, c *conversation) {
			got := h.play(t, name, c)
			if *update {
				got.keep(t, name)
				return
			}
			c.same(t, got)
		})
	})
}

// eachConversation runs those conversations at once in which no time passes,
// and then the others, one after the other: they share a clock.
func eachConversation(t *testing.T, all map[string]*conversation, fn func(t *testing.T, name string, c *conversation)) {
	t.Helper()
	for _, timed := range []bool{false, true} {
		t.Run(map[bool]string{false: "timeless", true: "timed"}[timed], func(t *testing.T) {
			for _, name := range slices.Sorted(maps.Keys(all)) {
				if c := all[name]; c.timed() == timed {
					t.Run(name, func(t *testing.T) {
						if !timed {
							t.Parallel()
						}
						fn(t, name, c)
					})
				}
			}
		})
	}
}

// TestConversationsCoverBots fails for each output of a node type of bots that
// no conversation goes through.
func TestConversationsCoverBots(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{}
	for _, c := range conversations(t) {
		c.take(t, taken)
	}
	for _, nt := range node.NewTypes().Describe().Nodes {
		if nt.Name == "note" || !slices.Contains(nt.Engines, flow.EngineBot) {
			continue // nothing leads to a note
		}
		assert.Truef(t, taken[nt.Name], "no conversation has a node of type %s", nt.Name)
		for _, o := range nt.Outputs {
			assert.Truef(t, taken[nt.Name+" "+o.Name], "no conversation goes through output %s of %s", o.Name, nt.Name)
		}
	}
}

// take notes what the runs of a conversation went through.
func (c *conversation) take(t *testing.T, taken map[string]bool) {
	t.Helper()
	for _, r := range c.Want.Runs {
		var bot int
		_, err := fmt.Sscanf(r.Bot, "bot%d", &bot)
		require.NoError(t, err)
		var d struct {
			Nodes map[string]struct{ Type string }
		}
		require.NoError(t, json.Unmarshal(c.Flows[bot-1], &d))
		for _, row := range r.Path {
			id, rest, _ := strings.Cut(row, " ")
			out, _, _ := strings.Cut(rest, " ")
			kind := d.Nodes[id].Type
			taken[kind], taken[kind+" "+family(kind, out)] = true, true
		}
	}
}

// family is an output without what its author calls it.
func family(nodeType, out string) string {
	kind, _, has := strings.Cut(out, ":")
	switch {
	case has && kind == "status":
		return "status:<code or class>"
	case has:
		return kind + ":<id>"
	case (nodeType == "condition" || nodeType == "random") && out != "else" && out != "error" && out != "":
		return "<branch id>"
	}
	return out
}
