package graph_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider/graph"
)

func TestMentions(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		`{"id":"17"}`:                           {"17"},
		`{"id":17,"x":{"id" : "18"},"id":"17"}`: {"17", "18"},
		"{\"id\"\n\t:\r\n \"19\"}":              {"19"},
		`{"id":"wamid.17"}`:                     nil,
		`{"id":"17`:                             nil,
		`{"id":`:                                nil,
		`{"id"`:                                 nil,
		`{"id":""}`:                             nil,
		`{"id":-1}`:                             nil,
		`{"text":"\"id\":\"17\""}`:              nil,
		`{"wa_id":"17"}`:                        nil,
		`{"id":"` + strings.Repeat("1", 33) + `"}`: nil,
		`{"id"` + strings.Repeat(" ", 9) + `:7}`:   nil,
		``:                                         nil,
	} {
		require.Equal(t, want, graph.Mentions([]byte(body), "id", 9), body)
	}
	require.Len(t, graph.Mentions([]byte(`{"id":1,"id":2,"id":3}`), "id", 2), 2, "as many as are asked for")
	// Past a bound none is looked at, whatever is there.
	require.Empty(t, graph.Mentions([]byte(strings.Repeat(`"id":[],`, 10_000)+`"id":7`), "id", 9))
}

// FuzzMentions finds each id that a reader of JSON finds.
func FuzzMentions(f *testing.F) {
	for _, seed := range []string{`{"id":"1","a":[{"id":2}]}`, `{"id":"x"}`, `{"id":`, `{"\u0069d":1}`, `{"id" : "007"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		ids := graph.Mentions(body, "id", 100)
		require.LessOrEqual(t, len(ids), 100)
		seen := map[string]bool{}
		for _, id := range ids {
			require.False(t, seen[id])
			require.Empty(t, strings.Trim(id, "0123456789"))
			seen[id] = true
		}
		if !json.Valid(body) || len(body) > 500 {
			return
		}
		for name, value := range jsonscan.Members(body) {
			plain := strings.Contains(string(body), `"id"`) && !strings.ContainsAny(string(body), `\ `+"\t\r\n")
			id := graph.Value(value).ID()
			if plain && string(name) == "id" && id != "" && len(id) <= 32 && strings.Trim(id, "0123456789") == "" {
				require.Contains(t, ids, id)
			}
		}
	})
}
