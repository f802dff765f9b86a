package server_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// used writes a call of a model down.
func (c client) used(t *testing.T, model, chat string, ref int, u llm.Usage) {
	t.Helper()
	account := c.call(t, "GET", "/account", "").json(200)["id"].(string)
	e, err := c.Usage.Begin(t.Context(), usage.Call{
		Account: account, Reference: int64(ref), ChatID: chat, Feature: "assistant", Provider: "openai", Model: model, Reserve: llm.Usage{Input: 100, Output: 10},
	})
	require.NoError(t, err)
	_, err = c.Usage.Complete(t.Context(), e, &llm.Response{Provider: "openai", Model: model, Usage: u}, nil)
	require.NoError(t, err)
}

// midMonth is a clock that begins in the middle of a month: what is counted by
// the day or the month is so in one of each, whenever a test runs.
func midMonth() func() time.Time {
	started := time.Now()
	noon := time.Date(started.Year(), started.Month(), 15, 12, 0, 0, 0, time.UTC)
	return func() time.Time { return noon.Add(time.Since(started)) }
}

// TestUsage shows what models were used, in the shapes of the contract.
func TestUsage(t *testing.T) {
	t.Parallel()
	clock := midMonth()
	f := setup(t, func(c *server.Config) { c.Now = clock })
	c := f.as(t, "ana")
	ref := c.sandbox(t)
	c.used(t, "gpt-5", "ana@sandbox", ref, llm.Usage{Known: true, Input: 1001, CacheRead: 1, Output: 10, Reasoning: 4})
	c.used(t, "house", "", 0, llm.Usage{Known: true, Input: 5})

	c.write(t, ref, "ana", "Hello")
	const total = `"total":{"calls":2,"errors":0,"inputTokens":1006,"cachedInputTokens":1,"outputTokens":10,"reasoningTokens":4,"cost":1350.125,"unpricedCalls":1},"truncated":false`
	now := clock()
	sum := c.call(t, "GET", fmt.Sprintf("/aiusage/rollup?groupBy=model&from=%d", now.Add(-time.Hour).Unix()), "")
	got := sum.json(200)
	require.Contains(t, sum.Body.String(), total)
	rows := got["items"].([]any)
	require.Len(t, rows, 2)
	require.Equal(t, "gpt-5", rows[0].(map[string]any)["key"])
	got = c.call(t, "GET", fmt.Sprintf("/aiusage/rollup?groupBy=month,chat&timezone=UTC&chat=ana@sandbox&reference=%d&from=%d", ref, now.Add(-time.Hour).Unix()), "").json(200)
	last := got["items"].([]any)[len(got["items"].([]any))-1].(map[string]any)
	require.Equal(t, map[string]any{"month": now.Format("2006-01"), "chat": fmt.Sprintf("%d/ana@sandbox", ref)}, last["keys"])

	page := c.call(t, "GET", "/aiusage/detail", "")
	list := page.json(200)
	require.Nil(t, list["next"])
	first := list["items"].([]any)[0].(map[string]any)
	require.Nil(t, first["cost"])
	require.Nil(t, first["chatId"])
	require.Equal(t, "unpriced_model", first["costStatus"])
	second := list["items"].([]any)[1].(map[string]any)
	require.Contains(t, page.Body.String(), `"cost":1350.125,"costStatus":"priced"`)
	require.Equal(t, []any{"ana@sandbox", ref, "built-in"}, []any{second["chatId"], count(second["reference"]), second["priceSource"]})

	missing := c.call(t, "GET", "/aiusage/missing-pricing", "").json(200)["items"].([]any)
	require.Len(t, missing, 1)
	require.Equal(t, "house", missing[0].(map[string]any)["model"])
	prices := `{"items":[{"provider":"openai","model":"house","input":0.075,"output":3e-1,"tiers":[{"over":5000,"input":1,"output":2}]},{"provider":"openai","model":"alias","sameAs":"openai/gpt-5"}]}`
	put := c.call(t, "PUT", "/aiusage/pricing", prices)
	set := put.json(200)
	require.Equal(t, set, c.call(t, "GET", "/aiusage/pricing", "").json(200))
	require.Equal(t, map[string]any{"provider": "openai", "model": "alias", "sameAs": "openai/gpt-5"}, set["items"].([]any)[0])
	require.Contains(t, put.Body.String(), `"model":"house","input":0.075,"output":0.3,"tiers":[{"over":5000,"input":1,"output":2}]`)
	require.Equal(t, "built-in", set["sources"].([]any)[0].(map[string]any)["source"])
	require.Equal(t, 1, count(c.call(t, "POST", "/aiusage/reprice", `{}`).json(200)["changed"]))
	require.Equal(t, 0, count(c.call(t, "POST", "/aiusage/reprice", `{}`).json(200)["changed"]))
	require.Empty(t, c.call(t, "GET", "/aiusage/missing-pricing", "").json(200)["items"])

	other := client{f, f.signUp(t, "ben@example.org")}
	require.Empty(t, other.call(t, "GET", "/aiusage/detail", "").json(200)["items"])
	require.Empty(t, other.call(t, "GET", "/aiusage/pricing", "").json(200)["items"])

	c.erase(t, fmt.Sprintf("/chats?reference=%d&chatId=ana", ref))
	list = c.call(t, "GET", "/aiusage/detail", "").json(200)
	require.Nil(t, list["items"].([]any)[1].(map[string]any)["chatId"], "a chat that is erased is not named")
}

// TestWrongUsage names what is wrong.
func TestWrongUsage(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	c := f.as(t, "ana")
	for _, w := range []struct{ method, path, body, location string }{
		{"GET", "/aiusage/rollup?groupBy=day,day", "", "query.groupBy"},
		{"GET", "/aiusage/rollup?timezone=Mars", "", "query.timezone"},
		{"GET", "/aiusage/rollup?from=9&to=9", "", "query.from"},
		{"GET", "/aiusage/detail?cursor=-", "", "query.cursor"},
		{"PUT", "/aiusage/pricing", `{"items":[{"provider":"openai","model":"a","output":1}]}`, "body.items[0].input"},
		{"PUT", "/aiusage/pricing", `{"items":[{"provider":"openai","model":"a","sameAs":"openai/b","input":1}]}`, "body.items[0].sameAs"},
		{"PUT", "/aiusage/pricing", `{"items":[{"provider":"openai","model":"a","input":1,"output":1,"tiers":[{"over":9,"input":1}]}]}`, "body.items[0].tiers[0].output"},
		{"PUT", "/aiusage/budget", `{"items":[{"scope":"flow","period":"day"}]}`, "body.items[0].cost"},
		{"PUT", "/aiusage/budget", `{"items":[{"scope":"flow","period":"day","tokens":1,"projectId":"x"}]}`, "body.items[0].projectId"},
		{"PUT", "/aiusage/budget", `{"items":[{"scope":"chat","period":"day","tokens":1,"chatId":"x"}]}`, "body.items[0].reference"},
		{"POST", "/aiusage/reprice", `{"from":9,"to":9}`, "body.from"},
	} {
		p := c.call(t, w.method, w.path, w.body).problem(422, "validation")
		require.Equal(t, w.location, p.Errors[0].Location, w.path+w.body)
	}
	p := c.call(t, "PUT", "/aiusage/budget", `{"items":[{"scope":"flow","period":"day","tokens":1,"flowId":"x"}]}`).problem(404, "not_found")
	require.Equal(t, "body.items[0].flowId", p.Errors[0].Location)
}

// TestUsageGuide sets the budgets of docs/usage.md.
func TestUsageGuide(t *testing.T) {
	t.Parallel()
	ana := setup(t, nil).as(t, "ana")
	project, _ := ana.project(t)
	flow := ana.call(t, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"Clerk"}`, project)).json(201)["id"].(string)
	budgets := testkit.ReadGuide(t, "../docs/usage.md").Block(t, "budgets", "0198…", flow)
	var want struct{ Items []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(budgets), &want))
	items := ana.call(t, "PUT", "/aiusage/budget", budgets).json(200)["items"].([]any)
	require.Len(t, items, len(want.Items))
	for i, item := range items {
		require.Subset(t, item, want.Items[i])
	}
}

// TestUsageBudgets sets budgets and shows what is spent of them.
func TestUsageBudgets(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *server.Config) { c.Now = midMonth() })
	c := f.as(t, "ana")
	ref := c.sandbox(t)
	c.used(t, "gpt-5", "ana@sandbox", ref, llm.Usage{Known: true, Input: 1000})
	body := fmt.Sprintf(`{"items":[{"scope":"account","period":"month","timezone":"Europe/Berlin","cost":5000000.5},{"scope":"chat","period":"total","tokens":1050,"reference":%d,"chatId":"ana","unpriced":"refuse"},{"scope":"flow","period":"day","tokens":7}]}`, ref)
	put := c.call(t, "PUT", "/aiusage/budget", body)
	items := put.json(200)["items"].([]any)
	require.Len(t, items, 3)
	first, second, third := items[0].(map[string]any), items[1].(map[string]any), items[2].(map[string]any)
	require.Contains(t, put.Body.String(), `"cost":5000000.5,`)
	require.Equal(t, 1250, count(first["spentCost"]))
	require.NotNil(t, first["until"])
	require.Equal(t, []any{1000, "refuse", "ana@sandbox", nil}, []any{count(second["spentTokens"]), second["unpriced"], second["chatId"], second["until"]})
	require.Equal(t, []any{nil, nil, "UTC"}, []any{third["spentTokens"], third["spentCost"], third["timezone"]})

	account := c.call(t, "GET", "/account", "").json(200)["id"].(string)
	_, err := c.Usage.Begin(t.Context(), usage.Call{
		Account: account, Reference: int64(ref), ChatID: "ana@sandbox", Feature: "agent", Provider: "openai", Model: "gpt-5", Reserve: llm.Usage{Input: 51},
	})
	var over *usage.Exceeded
	require.ErrorAs(t, err, &over)
	require.Equal(t, "tokens", over.Reason)
}
