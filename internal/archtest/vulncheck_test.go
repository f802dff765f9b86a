package archtest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// vulnerability is one of a function that a small package of ours calls.
const vulnerability = `{"schema_version":"1.3.1","id":"GO-2099-0001","modified":"2026-01-01T00:00:00Z","published":"2026-01-01T00:00:00Z",
	"summary":"Made up for a test","details":"It is not there.","database_specific":{"url":"https://example.org"},"affected":[{"package":{"name":"stdlib","ecosystem":"Go"},
	"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
	"ecosystem_specific":{"imports":[{"path":"strconv","symbols":["ParseInt"]}]}}]}`

// TestVulncheck looks for known vulnerabilities in one small package, with
// databases that know none, one that is called, and that do not answer.
func TestVulncheck(t *testing.T) {
	t.Parallel()
	bash := testkit.Program(t, "bash")
	check := func(database string) (string, error) {
		cmd := exec.CommandContext(t.Context(), bash, "../../scripts/vulncheck.sh", "./internal/page")
		cmd.Env = append(os.Environ(), "GOVULNDB="+database)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := check(vulnerabilities(t))
	require.NoError(t, err, out)
	require.Contains(t, out, "No vulnerabilities found.")

	out, err = check(vulnerabilities(t, vulnerability))
	var failed *exec.ExitError
	require.ErrorAs(t, err, &failed, out)
	require.Contains(t, out, "GO-2099-0001")
	require.Contains(t, out, "strconv.ParseInt")

	broken := httptest.NewServer(http.NotFoundHandler())
	defer broken.Close()
	for _, away := range []string{broken.URL, "http://127.0.0.1:1/"} {
		out, err = check(away)
		require.NoError(t, err, out)
		require.Equal(t, "govulncheck: no vulnerability database can be reached; not checked\n", out)
	}
	_, err = check("file:///nowhere")
	require.Error(t, err, "a folder that is named must be there")
}

// vulnerabilities returns the address of a database of vulnerabilities of Go's
// standard library.
func vulnerabilities(t *testing.T, known ...string) string {
	t.Helper()
	type entry struct {
		ID       string `json:"id"`
		Modified string `json:"modified"`
	}
	type module struct {
		Path  string  `json:"path"`
		Vulns []entry `json:"vulns"`
	}
	dir, modules := t.TempDir(), []module{}
	for _, text := range known {
		var e entry
		require.NoError(t, json.Unmarshal([]byte(text), &e))
		modules = append(modules, module{"stdlib", []entry{e}})
		write(t, filepath.Join(dir, "ID", e.ID+".json"), []byte(text))
	}
	index, err := json.Marshal(modules)
	require.NoError(t, err)
	write(t, filepath.Join(dir, "index", "modules.json"), index)
	write(t, filepath.Join(dir, "index", "db.json"), []byte(`{"modified":"2026-01-01T00:00:00Z"}`))
	return "file://" + filepath.ToSlash(dir)
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, content, 0o600))
}
