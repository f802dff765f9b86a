package multinode_test

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestMultinode runs the line of the README, on a PostgreSQL that the script
// starts and on one that it is given, and a node with the settings of
// compose.yaml.
func TestMultinode(t *testing.T) {
	t.Parallel()
	given := testkit.PostgresURL(t) // without PostgreSQL nothing of this can run
	other := testkit.PostgresURL(t)
	bin := testkit.Build(t, "./server/cmd/trunkline", "./examples/webhookreceiver")
	t.Run("own database", func(t *testing.T) {
		t.Parallel()
		runs(t, bin, "")
	})
	t.Run("given database", func(t *testing.T) {
		t.Parallel()
		runs(t, bin, given)
	})
	t.Run("compose", func(t *testing.T) {
		t.Parallel()
		starts(t, bin, other)
	})
}

// runs runs the script, which must leave nothing.
func runs(t *testing.T, bin, database string) {
	t.Helper()
	tmp, err := os.MkdirTemp("/tmp", "multinode") //nolint:usetesting // a short path, for a socket
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	require.NoError(t, os.Chmod(tmp, 0o711)) // PostgreSQL's user passes through
	sh := testkit.NewShell(t, "BIN="+bin, "TRUNKLINE_DATABASE_URL="+database, "TMPDIR="+tmp)
	out := sh.Run(t, "cd "+testkit.Root(t)+"\n"+testkit.ReadGuide(t, "README.md").Block(t, "kill"))
	require.Len(t, out, 4)
	require.Regexp(t, `^node one was killed with -9 after 30 messages; the receiver has taken \d+$`, out[1])
	require.Equal(t, "40 of 40 messages reached the receiver, and 40 of 40 answers the phones, each once and in order", out[3])
	left, err := filepath.Glob(filepath.Join(tmp, "*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// composition is compose.yaml, with all that is in it.
type composition struct {
	Name     string
	Node     service `yaml:"x-node"`
	Services map[string]service
	Volumes  map[string]any
}

type service struct {
	Image           string
	Build           struct{ Context, Dockerfile string }
	Environment     map[string]string
	Volumes, Ports  []string
	DependsOn       any `yaml:"depends_on"` // a list, or a map by name
	Restart         string
	StopGracePeriod time.Duration `yaml:"stop_grace_period"`
	Healthcheck     struct {
		Test     []string
		Interval time.Duration
		Retries  int
	}
}

// composed reads compose.yaml, and looks for everything that it names.
func composed(t *testing.T) composition {
	t.Helper()
	raw, err := os.ReadFile("compose.yaml")
	require.NoError(t, err)
	var c composition
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&c))
	for name, s := range c.Services {
		require.NotEmpty(t, s.Image, name)
		for _, v := range s.Volumes {
			if from, _, _ := strings.Cut(v, ":"); strings.HasPrefix(from, ".") {
				require.FileExists(t, from)
			} else {
				require.Contains(t, c.Volumes, from)
			}
		}
		switch on := s.DependsOn.(type) {
		case []any:
			for _, name := range on {
				require.Contains(t, c.Services, name)
			}
		case map[string]any:
			for name := range on {
				require.NotEmpty(t, c.Services[name].Healthcheck.Test, name)
			}
		}
	}
	return c
}

// starts starts a node with the settings of compose.yaml, on another database
// and in other folders, and asks it what the balancer asks.
func starts(t *testing.T, bin, database string) {
	t.Helper()
	c := composed(t)
	one := c.Services["one"]
	require.Equal(t, one, c.Services["two"], "nodes are equal")
	require.FileExists(t, filepath.Join(one.Build.Context, one.Build.Dockerfile))
	require.FileExists(t, filepath.Join(one.Build.Context, "go.mod"))

	caddyfile, err := os.ReadFile("Caddyfile")
	require.NoError(t, err)
	require.Contains(t, string(caddyfile), "reverse_proxy one:3000 two:3000 {")
	require.Equal(t, []string{"3000:3000"}, c.Services["balancer"].Ports)
	health := regexp.MustCompile(`health_uri (\S+)`).FindStringSubmatch(string(caddyfile))
	require.NotNil(t, health)

	help, err := exec.CommandContext(t.Context(), filepath.Join(bin, "trunkline"), "--help").Output()
	require.NoError(t, err)
	dir, addr := t.TempDir(), testkit.FreeAddress(t)
	var env []string
	for name, value := range one.Environment {
		require.Contains(t, string(help), "($"+name+")")
		switch name {
		case "TRUNKLINE_DATABASE_URL":
			require.Contains(t, value, "@database/")
			value = database
		case "TRUNKLINE_SECRET":
			require.True(t, strings.HasPrefix(value, "${TRUNKLINE_SECRET:?"), value)
			value = "a secret of tests that is long enough"
		case "TRUNKLINE_DATA", "TRUNKLINE_MEDIA":
			value = filepath.Join(dir, value)
		}
		env = append(env, name+"="+value)
	}
	sh := testkit.NewShell(t, env...)
	sh.Send(t, filepath.Join(bin, "trunkline")+" --addr "+addr+"\n")
	require.Contains(t, sh.Line(t), "Trunkline is ready: panel "+one.Environment["TRUNKLINE_BASE_URL"]+"/panel/")
	res, err := http.Get("http://" + addr + health[1])
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
}
