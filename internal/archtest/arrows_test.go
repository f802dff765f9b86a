package archtest_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// arrow is a row of the allowed dependencies of the packages in a folder, including
// indirect ones.
type arrow struct {
	from  string
	may   []string // folders, each with what lies below it
	exact []string // single packages
}

// dependencies are the rows; the longest matching folder applies to a package. All
// packages may depend on internal/..., which depends only on itself.
var dependencies = []arrow{
	{from: "provider"},
	{from: "provider/sandbox", may: []string{"provider/graph"}, exact: []string{"provider"}},
	{from: "provider/graph", exact: []string{"provider"}},
	{from: "provider/cloud", may: []string{"provider/graph"}, exact: []string{"provider"}},
	{from: "provider/messenger", may: []string{"provider/graph"}, exact: []string{"provider"}},
	{from: "provider/web", exact: []string{"provider"}},
	{from: "provider/providertest", exact: []string{"provider"}},
	{from: "messaging", may: []string{"messaging/internal"}, exact: []string{"provider", "messaging/media", "messaging/payload"}},
	{from: "messaging/internal/attachment", may: []string{"messaging/internal"}, exact: []string{"messaging/media", "messaging/payload", "provider"}},
	{from: "messaging/internal/callback", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/connection", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/contact", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/contactcount"},
	{from: "messaging/internal/forged"},
	{from: "messaging/internal/handler", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/inbox", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/maintenance", may: []string{"messaging/internal"}, exact: []string{"messaging/media", "messaging/payload", "provider"}},
	{from: "messaging/internal/outbox", may: []string{"messaging/internal"}, exact: []string{"messaging/media", "messaging/payload", "provider"}},
	{from: "messaging/internal/ingest", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/privacy", may: []string{"messaging/internal"}, exact: []string{"messaging/media", "messaging/payload", "provider"}},
	{from: "messaging/internal/recipient", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/refusal", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/render", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/sanitize", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/session", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/settings", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/search", exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/store", exact: []string{"messaging/internal/search", "messaging/payload", "provider"}},
	{from: "messaging/internal/template", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/timeline", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/internal/wait", may: []string{"messaging/internal"}, exact: []string{"messaging/payload", "provider"}},
	{from: "messaging/payload", exact: []string{"provider"}},
	{from: "messaging/compat", may: []string{"messaging/internal"}, exact: []string{"messaging", "messaging/media", "messaging/payload", "provider"}},
	{from: "messaging/media"},
	{from: "messaging/media/s3", exact: []string{"messaging/media"}},
	{from: "webhook"},
	{from: "sqldb"},
	{from: "aiflow/flow"},
	{from: "aiflow/llm"},
	{from: "aiflow/credential"},
	{from: "aiflow/memory", may: []string{"aiflow/llm"}},
	{from: "aiflow/knowledge", may: []string{"aiflow/llm"}},
	{from: "aiflow/agent", may: []string{"aiflow/flow", "aiflow/llm", "aiflow/memory"}},
	{from: "aiflow/typebot", exact: []string{"aiflow/flow", "aiflow/flow/expression", "aiflow/flow/internal/values"}},
	{from: "aiflow", may: []string{"aiflow/agent", "aiflow/assistant", "aiflow/flow", "aiflow/llm", "aiflow/memory", "aiflow/knowledge"}},
	{from: "botengine", may: []string{"aiflow/flow"}},
	{from: "extractor", may: []string{"aiflow/llm"}},
	{from: "mcp", exact: []string{"aiflow/llm"}},
	{from: "mcp/protocol", exact: []string{"mcp", "aiflow/llm"}},
	{from: "mcp/remote", may: []string{"aiflow/llm"}},
	{from: "mcp/functions", may: []string{"messaging/internal"}, exact: []string{"mcp", "messaging", "messaging/media", "messaging/payload", "provider", "aiflow/llm"}},
	{from: "server/client"},
	{from: "server/internal/httpapi", may: []string{"server/auth"}, exact: []string{"server/internal/place"}},
	{from: "server/internal/auditlog"},
	{from: "server/internal/place"},
	{from: "server", may: []string{"server/internal", "provider", "messaging", "webhook", "aiflow", "botengine", "extractor", "mcp"}, exact: []string{"sqldb"}},
}

// serverOnly are modules that a program with only one of the packages must not
// link: routing, the command line, metrics and the choice of a driver.
var serverOnly = []string{
	"github.com/gorilla/mux",
	"github.com/danielgtaylor/huma/v2",
	"github.com/golang-jwt/jwt/v5",
	"github.com/alecthomas/kong",
	"github.com/prometheus/client_golang",
	"go.opentelemetry.io",
	"github.com/lib/pq",
	"modernc.org/sqlite",
}

// testsOnly are our packages for tests, which may depend on testTools; no
// program links any of them.
var (
	testsOnly = []string{"internal/testkit", "internal/archtest", "provider/providertest", "aiflow/flow/runtime/runtimetest", "aiflow/llm/modeltest"}
	testTools = []string{
		"testing", "github.com/stretchr/testify",
		module + "/internal/testkit", module + "/provider/providertest", module + "/aiflow/flow/runtime/runtimetest", module + "/aiflow/llm/modeltest",
	}
)

func TestDependencies(t *testing.T) {
	t.Parallel()
	each(t, load(t), func(t *testing.T, name string, p pkg) {
		if below(name, "examples") {
			for _, dep := range p.Imports {
				assert.Falsef(t, below(ours(dep), "internal"), "an example does what any embedder can: it must not import %s", dep)
			}
			return
		}
		a := arrowOf(t, name)
		for _, dep := range p.Deps {
			d := ours(dep)
			if d == "" || below(d, "internal", a.from) && a.owns(d) || below(d, a.may...) || slices.Contains(a.exact, d) {
				continue
			}
			assert.Failf(t, "forbidden arrow", "%s must not depend on %s", name, d)
		}
	})
}

func TestServerOnlyDependencies(t *testing.T) {
	t.Parallel()
	each(t, load(t), func(t *testing.T, name string, p pkg) {
		if below(name, "server", "examples", "sqldb", "internal/database/open", "internal/testkit") {
			return
		}
		for _, mod := range serverOnly {
			assert.Falsef(t, p.needs(mod), "%s must not depend on %s: it belongs to server", name, mod)
		}
	})
}

// The extractors of texts must not depend on a database.
func TestExtractorNeedsNoDatabase(t *testing.T) {
	t.Parallel()
	all := load(t)
	for _, name := range []string{"extractor", "extractor/entity", "extractor/intent"} {
		p, ok := all[module+"/"+name]
		require.True(t, ok, name)
		for _, dep := range []string{"github.com/jmoiron/sqlx", "database/sql", "net/http"} {
			assert.Falsef(t, p.needs(dep), "%s must not depend on %s", name, dep)
		}
	}
}

// The program that wants a panel passes it to the server: other programs do not
// link its files.
func TestPanelStaysApart(t *testing.T) {
	t.Parallel()
	all := load(t)
	require.Contains(t, all[module+"/server/cmd/trunkline"].Deps, module+"/server/panel")
	each(t, all, func(t *testing.T, name string, p pkg) {
		if !below(name, "server/cmd/trunkline", "server/panel") {
			assert.NotContainsf(t, p.Deps, module+"/server/panel", "%s must not link the panel", name)
		}
	})
}

func TestTestToolsStayInTests(t *testing.T) {
	t.Parallel()
	each(t, load(t), func(t *testing.T, name string, p pkg) {
		if below(name, testsOnly...) {
			return
		}
		for _, tool := range testTools {
			assert.Falsef(t, p.needs(tool), "%s must not depend on %s: it is for tests", name, tool)
		}
	})
}

func TestProviderNeedsTheStandardLibraryOnly(t *testing.T) {
	t.Parallel()
	all := load(t)
	p, ok := all[module+"/provider"]
	require.True(t, ok)
	for _, dep := range p.Deps {
		assert.Truef(t, all[dep].Standard, "provider must not depend on %s", dep)
	}
}

// each runs fn for every package of ours, in order of its path.
func each(t *testing.T, all map[string]pkg, fn func(t *testing.T, name string, p pkg)) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if name := ours(path); name != "" {
			t.Run(name, func(t *testing.T) { fn(t, name, all[path]) })
		}
	}
}

// arrowOf returns the row for a package. A package without one fails the test, so
// that a new one is given its place first.
func arrowOf(t *testing.T, name string) arrow {
	t.Helper()
	best := arrow{}
	if below(name, "internal") {
		best.from = "internal"
	}
	for _, a := range dependencies {
		if below(name, a.from) && len(a.from) > len(best.from) {
			best = a
		}
	}
	require.NotEmptyf(t, best.from, "%s has no row in arrows: say what it may depend on", name)
	return best
}

// owns reports whether a package below the row's folder belongs to that row and
// not to a row of its own.
func (a arrow) owns(name string) bool {
	for _, b := range dependencies {
		if len(b.from) > len(a.from) && below(b.from, a.from) && below(name, b.from) {
			return false
		}
	}
	return true
}
