package archtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/webhook"
)

// programs are the first programs of an embedder, in testdata/programs: the whole
// engine under an existing router, and packages alone. Each is run.
var programs = map[string]func(t *testing.T, cmd *exec.Cmd){
	"server":    runsServer,
	"messaging": runsBot,
	"webhook":   runsWebhook,
	"extractor": runsExtractor,
	"aiflow":    runsFlow,
}

// lines is the maximum number of lines of main.
const lines = 25

// TestPrograms counts the lines of the programs, compares the modules that they
// link with modules.txt, checks that docs/embedding.md and the documentation of
// their packages show them, and runs them.
func TestPrograms(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.FromSlash("../../docs/embedding.md"))
	require.NoError(t, err)
	for name, runs := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("testdata", "programs", name)
			source, err := os.ReadFile(filepath.Join(dir, "main.go"))
			require.NoError(t, err)
			main := body(t, source)
			require.LessOrEqualf(t, strings.Count(main, "\n"), lines, "main has more than %d lines", lines)
			require.Containsf(t, string(guide), "\n```go\n"+string(source)+"```\n", "docs/embedding.md must show %s/main.go", dir)
			require.Containsf(t, packageDoc(t, name), main, "the documentation of package %s must show main of %s", name, dir)

			if flow, err := os.ReadFile(filepath.Join(dir, "flow.json")); err == nil {
				require.Contains(t, string(guide), "\n```json\n"+string(flow)+"```\n", "docs/embedding.md must show the flow of a program")
			}
			golden := filepath.Join(dir, "modules.txt")
			modules := linked(t, dir)
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(modules), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equalf(t, string(want), modules, "%s links other modules: -update, if it needs them", name)

			began := time.Now()
			bin := inNewModule(t, dir)
			cmd := exec.CommandContext(t.Context(), bin)
			cmd.Dir, cmd.Stderr = t.TempDir(), t.Output()
			cmd.Env = append(os.Environ(), "APP_SECRET=a secret of tests that is long enough")
			runs(t, cmd)
			t.Logf("promise: %s: from an empty module to what it is for in %.1f s", t.Name(), time.Since(began).Seconds())
		})
	}
}

// inNewModule builds a program in a module of its own, as an embedder begins one: the
// block "module" of docs/embedding.md. The module takes this checkout, and downloads nothing.
func inNewModule(t *testing.T, dir string) (bin string) {
	t.Helper()
	at := t.TempDir()
	for _, file := range []string{"main.go", "flow.json"} {
		if text, err := os.ReadFile(filepath.Join(dir, file)); err == nil {
			require.NoError(t, os.WriteFile(filepath.Join(at, file), text, 0o600))
		}
	}
	here, err := filepath.Abs(root)
	require.NoError(t, err)
	const we = "github.com/trunklinehq/trunkline"
	begin := testkit.ReadGuide(t, filepath.Join(root, "docs", "embedding.md"))["module"]
	require.Equal(t, "go mod init example.com/shop\ngo get "+we+"\ngo mod tidy\ngo run .\n", begin)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(at, "go.sum"), sums, 0o600))
	for _, args := range [][]string{
		{"mod", "init", "example.com/shop"},
		{"mod", "edit", "-require=" + we + "@v0.0.0", "-replace=" + we + "=" + here},
		{"build", "-mod=mod", "-o", "shop", "."},
	} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = at
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "go %s: %s", args[0], out)
	}
	return filepath.Join(at, "shop")
}

// body returns the body of main, which must be the only function of a program.
func body(t *testing.T, source []byte) string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "main.go", source, parser.ParseComments)
	require.NoError(t, err)
	var main string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			require.Truef(t, d.Tok == token.IMPORT || strings.HasPrefix(d.Doc.List[0].Text, "//go:embed "), "a program is imports and main")
		case *ast.FuncDecl:
			require.Equal(t, "main", d.Name.Name)
			first, last := fset.Position(d.Body.Lbrace), fset.Position(d.Body.Rbrace)
			main = string(source[first.Offset+len("{\n") : last.Offset])
		}
	}
	return main
}

// packageDoc returns the documentation of a package of ours.
func packageDoc(t *testing.T, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, name, "*.go"))
	require.NoError(t, err)
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		require.NoError(t, err)
		if file.Doc != nil && !strings.HasSuffix(path, "_test.go") {
			return file.Doc.Text()
		}
	}
	require.Failf(t, "no documentation", "of package %s", name)
	return ""
}

// linked returns the modules whose packages a program is built of, but ours.
func linked(t *testing.T, dir string) string {
	t.Helper()
	touch(t)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./"+filepath.ToSlash(dir))
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	require.NoError(t, err)
	found := map[string]bool{}
	for m := range strings.Lines(string(out)) {
		found[m] = m != "\n" && m != module+"\n"
	}
	maps.DeleteFunc(found, func(_ string, is bool) bool { return !is })
	return strings.Join(slices.Sorted(maps.Keys(found)), "")
}

// runsServer signs up through the program's own router.
func runsServer(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	addr := testkit.FreeAddress(t)
	cmd.Env = append(cmd.Env, "ADDR="+addr)
	start(t, cmd)
	testkit.AwaitListener(t, addr)
	in, err := json.Marshal(map[string]string{"email": "ana@example.org", "name": "Ana", "password": "correct horse"})
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/chat/user/signup", bytes.NewReader(in))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusCreated, res.StatusCode)
}

// runsWebhook is a receiver that verifies.
func runsWebhook(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	const secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	got := make(chan string, 100) // it may come again
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		got <- fmt.Sprint(string(b), err, webhook.Verify(secret, r.Header, b, time.Now()))
	}))
	t.Cleanup(receiver.Close)
	cmd.Env = append(cmd.Env, "WEBHOOK_SECRET="+secret, "RECEIVER="+receiver.URL)
	start(t, cmd)
	select {
	case reported := <-got:
		require.Equal(t, `{"order":17}<nil> <nil>`, reported)
	case <-time.After(time.Minute):
		require.Fail(t, "nothing was delivered")
	}
}

// runsBot writes to the bot and reads its answer in its database.
func runsBot(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	url := "sqlite://" + filepath.Join(cmd.Dir, "bot.db")
	chats, err := messaging.New(t.Context(), testkit.Open(t, url), &messaging.Options{Providers: []provider.Provider{sandbox.New()}})
	require.NoError(t, err)
	acc := chats.For(messaging.OneAccount)
	news, err := acc.Changes(t.Context(), 0, "")
	require.NoError(t, err)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	start(t, cmd)
	_, err = io.WriteString(in, "Hello\n")
	require.NoError(t, err)
	testkit.Within(t, time.Minute, "an answer", func() {
		for {
			changes, err := news.Next(t.Context(), time.Minute)
			require.NoError(t, err)
			for _, c := range changes {
				var m messaging.Message
				require.NoError(t, json.Unmarshal(c.Data, &m))
				if c.Kind == "status" && m.Mine && m.Status == "DELIVERED" {
					require.Equal(t, "You wrote: Hello", m.Text)
					return
				}
			}
		}
	})
}

func runsExtractor(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, "email ana@example.com\ndate 2027-03-05\nmoney {17.5 USD}\n", string(out))
}

// runsFlow runs the program twice: the second time its flow exists.
func runsFlow(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	for range 2 {
		again := exec.CommandContext(t.Context(), cmd.Path)
		again.Dir, again.Stderr = cmd.Dir, cmd.Stderr
		out, err := again.Output()
		require.NoError(t, err)
		require.Equal(t, "{\"total\":37.5}\n", string(out))
	}
}

// start starts a program that continues until the test ends.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
}
