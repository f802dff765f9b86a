package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestListsOfLargeDrafts shows that a page holds only so many drafts as are no
// burden.
func TestListsOfLargeDrafts(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		draft := `{"ui":{"picture":"` + strings.Repeat("x", 1_900_000) + `"}}`
		const all = 6
		project, _ := ana.project(t)
		for range all {
			ana.call(t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"Large","flow":%s}`, ref, draft)).json(201)
			ana.call(t, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"Large","draft":%s}`, project, draft)).json(201)
		}
		for _, path := range []string{"/bot/list", "/aiflow/flow/list"} {
			page := ana.call(t, "GET", path+"?limit=200", "").json(200)
			first := len(page["items"].([]any))
			require.Less(t, first, all, path)
			require.Positive(t, first, path)
			rest := ana.call(t, "GET", path+"?limit=200&cursor="+page["next"].(string), "").json(200)
			require.Len(t, rest["items"], all-first, path)
			require.Nil(t, rest["next"])
		}
	})
}
