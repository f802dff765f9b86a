package main_test

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// composeFile is deploy/compose.yaml, as far as the test reads it.
type composeFile struct {
	Services map[string]struct {
		Environment map[string]string
		Ports       []string
	}
}

// TestCompose holds the compose file to the schema of the specification, and starts the
// program with the environment of its container.
func TestCompose(t *testing.T) {
	t.Parallel()
	root := testkit.Root(t)
	raw, err := os.ReadFile(filepath.Join(root, "deploy", "compose.yaml"))
	require.NoError(t, err)
	var all any
	require.NoError(t, yaml.Unmarshal(raw, &all))
	require.NoError(t, composeSchema(t, root).Validate(all))

	var file composeFile
	require.NoError(t, yaml.Unmarshal(raw, &file))
	service, database := file.Services["trunkline"], file.Services["postgres"]
	require.Equal(t, []string{"127.0.0.1:3000:3000"}, service.Ports)
	values := map[string]string{"POSTGRES_PASSWORD": "secret", "TRUNKLINE_SECRET": sharedSecret}
	var env []string
	for name, value := range service.Environment {
		value = filled(t, value, values)
		switch name {
		case "TRUNKLINE_BASE_URL":
			require.Equal(t, "http://localhost:3000", value, "the port that is published")
			continue // the port of the test is another
		case "TRUNKLINE_DATABASE_URL":
			u, err := url.Parse(value)
			require.NoError(t, err)
			password, _ := u.User.Password()
			require.Equal(t, "postgres:5432", u.Host, "the name of the service")
			require.Equal(t, database.Environment["POSTGRES_USER"], u.User.Username())
			require.Equal(t, filled(t, database.Environment["POSTGRES_PASSWORD"], values), password)
			require.Equal(t, u.User.Username(), strings.TrimPrefix(u.Path, "/"), "the image creates the database of the user's name")
			require.Equal(t, "disable", u.Query().Get("sslmode"), "the image has no certificate")
			value = testkit.PostgresServer(t, testkit.PostgresOptions{}).Database(t)
		}
		env = append(env, name+"="+value)
	}
	n := launchIn(t, env, "--data", t.TempDir(), "--addr", "127.0.0.1:0")
	n.awaitProbe(t, 200)
	n.terminate(t)
}

// composeVariable is one that compose fills in: ${NAME:?} is required, ${NAME:-default} not.
var composeVariable = regexp.MustCompile(`\$\{([A-Z_]+):([?-])([^}]*)\}`)

func filled(t *testing.T, text string, values map[string]string) string {
	t.Helper()
	return composeVariable.ReplaceAllStringFunc(text, func(s string) string {
		m := composeVariable.FindStringSubmatch(s)
		if m[2] == "-" {
			return m[3]
		}
		require.Contains(t, values, m[1])
		return values[m[1]]
	})
}

// composeSchema is that of the specification: https://compose-spec.io
func composeSchema(t *testing.T, root string) *jsonschema.Schema {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/compose-spec/compose-go/v2")
	c.Dir = filepath.Join(root, "internal", "tools", "compose")
	out, err := c.Output()
	require.NoError(t, err, "%s", c)
	dir := regexp.MustCompile(`"Dir": "(.*)"`).FindStringSubmatch(string(out))
	require.NotNil(t, dir, "%s", out)
	compiler := jsonschema.NewCompiler()
	s, err := compiler.Compile(filepath.Join(dir[1], "schema", "compose-spec.json"))
	require.NoError(t, err)
	return s
}
