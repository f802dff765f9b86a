package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// alertRules is the file of alerts, as far as the tests read it.
type alertRules struct {
	Groups []struct {
		Rules []struct {
			Alert, Expr string
			Labels      struct{ Severity string }
			Annotations struct{ Summary, Description string }
		}
	}
}

// dashboard is the file for Grafana, as far as the tests read it.
type dashboard struct {
	Templating struct {
		List []struct {
			Name, Type, Definition string
			Query                  json.RawMessage
			Datasource             struct{ UID string }
		}
	}
	Panels []struct {
		Title, Type string
		Datasource  struct{ UID string }
		FieldConfig struct{ Defaults struct{ Unit string } }
		Targets     []struct {
			Expr, LegendFormat string
			Datasource         struct{ UID string }
		}
	}
}

// deployed is the path of a file below deploy.
func deployed(name string) string { return filepath.Join("..", "deploy", name) }

func readRules(t *testing.T) (out alertRules) {
	t.Helper()
	raw, err := os.ReadFile(deployed("prometheus/trunkline.rules.yml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(raw, &out))
	return out
}

func readDashboard(t *testing.T) (out dashboard) {
	t.Helper()
	raw, err := os.ReadFile(deployed("grafana/trunkline.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

// TestAlertRules loads the alerts, and has each fire on the series where it should and
// on no others.
func TestAlertRules(t *testing.T) {
	t.Parallel()
	promtool := testkit.Program(t, "promtool")
	for _, args := range [][]string{
		{"check", "rules", "trunkline.rules.yml"}, {"test", "rules", "trunkline.rules.test.yml"},
	} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = deployed("prometheus")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}

	var tests struct {
		Tests []struct {
			Name  string
			Alert []struct {
				Name string           `yaml:"alertname"`
				Exp  []map[string]any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	raw, err := os.ReadFile(deployed("prometheus/trunkline.rules.test.yml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(raw, &tests))
	fires, silent := map[string]bool{}, map[string]int{}
	for _, test := range tests.Tests {
		for _, a := range test.Alert {
			if len(a.Exp) > 0 {
				fires[a.Name] = true
			} else {
				silent[a.Name]++
			}
		}
	}
	guide, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	for _, g := range readRules(t).Groups {
		require.NotEmpty(t, g.Rules)
		for _, r := range g.Rules {
			require.True(t, fires[r.Alert], "a test in which %s fires", r.Alert)
			require.GreaterOrEqual(t, silent[r.Alert], 2, "a test in which %s does not fire yet, and one in which all is well", r.Alert)
			require.Contains(t, []string{"page", "ticket"}, r.Labels.Severity, r.Alert)
			require.NotEmpty(t, r.Annotations.Summary, r.Alert)
			require.Contains(t, string(guide), "`"+r.Alert+"`")
			require.NotEmpty(t, r.Annotations.Description, r.Alert)
		}
	}
}

// TestDashboard checks what Grafana would show without a complaint and nobody could
// read.
func TestDashboard(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	kinds := map[string]string{}
	for _, v := range d.Templating.List {
		kinds[v.Name] = v.Type
	}
	require.Equal(t, map[string]string{"datasource": "datasource", "job": "query", "instance": "query"}, kinds)
	titles, panels := map[string]bool{}, 0
	for _, p := range d.Panels {
		require.NotEmpty(t, p.Title)
		require.False(t, titles[p.Title], "two panels are called %s", p.Title)
		titles[p.Title] = true
		if p.Type == "row" {
			continue
		}
		panels++
		require.NotEmpty(t, p.FieldConfig.Defaults.Unit, p.Title)
		require.Equal(t, "${datasource}", p.Datasource.UID, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			require.Equal(t, "${datasource}", target.Datasource.UID, p.Title)
			require.NotEmpty(t, target.LegendFormat, p.Title)
			require.Contains(t, target.Expr, `job=~"$job",instance=~"$instance"`, p.Title)
		}
	}
	require.Greater(t, panels, 20)
}

var (
	promQuoted   = regexp.MustCompile(`"[^"]*"`)
	promMatchers = regexp.MustCompile(`\{[^}]*\}`)
	promLabels   = regexp.MustCompile(`\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)`)
	promRange    = regexp.MustCompile(`\[[^\]]*\]`)
	promName     = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*\s*\(?`)
	promNumber   = regexp.MustCompile(`(^|[^a-zA-Z0-9_:])[0-9][0-9a-z.]*`) // or a duration
	promWords    = regexp.MustCompile(`^(and|or|unless|offset|bool)$`)
)

// metricsIn are the names of metrics in an expression.
func metricsIn(expr string) (out []string) {
	for _, part := range []*regexp.Regexp{promQuoted, promMatchers, promLabels, promRange} {
		expr = part.ReplaceAllString(expr, " ")
	}
	expr = promNumber.ReplaceAllString(expr, "$1 ")
	for _, name := range promName.FindAllString(expr, -1) {
		if name = strings.TrimSpace(name); !strings.HasSuffix(name, "(") && !promWords.MatchString(name) {
			out = append(out, name)
		}
	}
	return out
}

func TestMetricsIn(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string][]string{
		`histogram_quantile(0.95, sum by (le) (rate(a_bucket{b=~"x|y(z",c!="d"}[$__rate_interval]))) > 2e9`: {"a_bucket"},
		`max_over_time(a[1h]) unless on (job, instance) b offset 5m`:                                        {"a", "b"},
		`a / b and on (job) c > 0.8 or absent(d)`:                                                           {"a", "b", "c", "d"},
	} {
		require.Equal(t, want, metricsIn(expr), expr)
	}
}

// TestDeployedMetrics asks a running server for its metrics: alerts and panels may use
// those alone.
func TestDeployedMetrics(t *testing.T) {
	t.Parallel()
	l := server.Listeners{Metrics: listener(t)}
	f := run(t, setup(t, local), l).fixture
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	ana.hook(t, ref, 200)
	bot := ana.bot(t, ref, echoFlow("echo", onAnything))
	ana.write(t, ref, "ana", "Hello")
	ana.awaitShown(t, ref, "ana", "out: Hello", "in: I am echo.") // deleted before, the bot would have no turn
	ana.send(t, ref, "Hi")
	ana.call(t, "POST", "/service-mcp/execute", fmt.Sprintf(`{"function":"list_chats","arguments":{"reference":%d}}`, ref)).json(200)
	ana.call(t, "DELETE", "/bot/"+bot, "").json(200) // ends its run

	exposed := func() map[string]bool {
		res, err := http.Get("http://" + l.Metrics.Addr().String() + "/metrics")
		require.NoError(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		names := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			if name := strings.TrimSpace(promName.FindString(line)); name != "" && !strings.HasPrefix(line, "#") {
				names[name] = true
			}
		}
		return names
	}
	var exprs []string
	for _, g := range readRules(t).Groups {
		for _, r := range g.Rules {
			exprs = append(exprs, r.Expr)
		}
	}
	d := readDashboard(t)
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			exprs = append(exprs, target.Expr)
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			name := regexp.MustCompile(`^label_values\((\w+)`).FindStringSubmatch(v.Definition)
			require.NotNil(t, name, v.Definition)
			exprs = append(exprs, name[1])
		}
	}
	require.Greater(t, len(exprs), 35)
	for _, expr := range exprs {
		used := metricsIn(expr)
		require.NotEmpty(t, used, expr)
		for _, name := range used {
			f.until(t, func() bool { return exposed()[name] }, "the server does not expose %s: %s", name, expr)
		}
	}
}
