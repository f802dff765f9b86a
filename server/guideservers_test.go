package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestServersGuide does what docs/credentials-and-servers.md does.
func TestServersGuide(t *testing.T) {
	t.Parallel()
	guide := testkit.ReadGuide(t, "../docs/credentials-and-servers.md")
	f := working(t, setup(t, reachable))
	ana := f.as(t, "ana")
	w := newWorld(t)
	left := 12
	w.tool("stock", true, func() string { return fmt.Sprintf(`{"count":%d}`, left) })
	orders := 0
	w.handle("/orders", func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer the-token-of-the-shop" {
			orders++
		}
	})
	here := strings.NewReplacer("https://shop.example.org", w.URL, "shop.example.org", "127.0.0.1")
	credential := ana.call(t, "POST", "/aiflow/credential", here.Replace(guide.Block(t, "credential"))).json(201)["id"].(string)
	here = strings.NewReplacer("https://shop.example.org", w.URL, "CREDENTIAL", credential)
	shop := ana.call(t, "POST", "/aiflow/server", here.Replace(guide.Block(t, "server"))).json(201)["id"].(string)
	tools := ana.call(t, "POST", "/aiflow/server/"+shop+"/refresh", "").json(200)["tools"].([]any)
	hash := tools[0].(map[string]any)["hash"].(string)
	ana.call(t, "PATCH", "/aiflow/server/"+shop, guide.Block(t, "approval", "HASH", hash)).json(200)
	_, publish := ana.project(t)
	flow := publish(here.Replace(guide.Block(t, "restock")))
	for range 2 {
		run := ana.start(t, fmt.Sprintf(`{"flowId":%q,"input":{"sku":"A1"}}`, flow))
		require.Equal(t, "completed", run["status"])
		require.Equal(t, left < 10, run["output"] == "ordered", run)
		left = 3
	}
	require.Equal(t, 1, orders)
}
