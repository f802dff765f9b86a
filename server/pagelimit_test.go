package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLists_ClampTheirLimit asks every list for more than it gives.
func TestLists_ClampTheirLimit(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	values := map[string]string{"reference": fmt.Sprint(ref), "chatId": "bob@sandbox", "from": "bob", "phone": "16505551234", "messageId": "x", "q": "hello"}
	lists := 0
	for path, item := range ana.call(t, "GET", "/swagger/openapi.json", "").json(200)["paths"].(map[string]any) {
		get, _ := item.(map[string]any)["get"].(map[string]any)
		parameters, _ := get["parameters"].([]any)
		query, limited := "", false
		for _, p := range parameters {
			p := p.(map[string]any)
			name := p["name"].(string)
			switch {
			case p["in"] == "query" && name == "limit":
				limited = true
				schema := p["schema"].(map[string]any)
				require.Equal(t, []any{1.0, nil}, []any{schema["minimum"], schema["maximum"]}, path)
				require.Contains(t, p["description"], "counts as", path)
			case p["in"] == "query" && p["required"] == true && name != "to" && get["operationId"] != "Usage_Detail":
				query += "&" + name + "=" + values[name]
			case p["in"] == "path" && name == "reference":
				path = strings.ReplaceAll(path, "{reference}", fmt.Sprint(ref))
			case p["in"] == "path" && strings.HasPrefix(path, "/reference/{id}/"):
				path = strings.ReplaceAll(path, "{id}", fmt.Sprint(ref))
			}
		}
		if !limited {
			continue
		}
		lists++
		for _, limit := range []string{"201", "1000000", "9223372036854775808", strings.Repeat("9", 400)} {
			a := ana.call(t, "GET", path+"?limit="+limit+query, "")
			require.NotContains(t, a.Body.String(), "query.limit", "%s %s", path, limit)
			if a.Code != 404 { // else what the path names is not there
				require.Equal(t, 200, a.Code, "%s %s", path, a.Body)
			}
		}
		for _, limit := range []string{"0", "-1", "-99999999999999999999", "x", "1.5", "201x", "1e9"} {
			p := ana.call(t, "GET", path+"?limit="+limit+query, "").problem(422, "validation")
			require.Equal(t, "query.limit", p.Errors[0].Location, "%s %s", path, limit)
		}
	}
	require.GreaterOrEqual(t, lists, 20, "the lists of the document")
}

// TestLists_HoldTheirMaximum: a page of more than the maximum has the maximum.
func TestLists_HoldTheirMaximum(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	for range 201 {
		ana.sandbox(t)
	}
	for _, limit := range []string{"200", "201", "5000", "99999999999999999999"} {
		page := ana.call(t, "GET", "/reference/list?limit="+limit, "").json(200)
		require.Len(t, page["items"], 200, limit)
		rest := ana.call(t, "GET", "/reference/list?limit="+limit+"&cursor="+page["next"].(string), "").json(200)
		require.Len(t, rest["items"], 1, limit)
	}
}
