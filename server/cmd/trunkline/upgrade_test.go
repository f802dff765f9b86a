package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// The data of each version that was released is kept in testdata/releases:
// VERSION.backup is a backup of a server of that version that was used as
// [fillRelease] does, and VERSION.migrations the digests of its migrations.
// A release is added by
//
//	go test ./server/cmd/trunkline -run TestUpgrade -release VERSION
var release = flag.String("release", "", "keep the data of this version for TestUpgrade")

const releases = "testdata/releases"

// TestUpgrade puts the data of every released version into a database of each
// kind as that version had it, and opens it with this one: a conversation goes
// on where it was.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	if *release != "" {
		fillRelease(t, filepath.Join(releases, *release))
	}
	files, err := filepath.Glob(releases + "/*.backup")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			path, err := filepath.Abs(name)
			require.NoError(t, err)
			testkit.EachURL(t, func(t *testing.T, url string) {
				env := []string{"TRUNKLINE_DATABASE_URL=" + url, "TRUNKLINE_DATA=" + filepath.Join(t.TempDir(), "data")}
				code, out, why := output(t, env, "restore", path)
				require.Zero(t, code, why)
				require.Contains(t, out, "Restored ")
				p, base := start(t, env)
				upgraded(t, base)
				code, _, why = output(t, env, "backup", filepath.Join(t.TempDir(), "new.backup"))
				require.Zero(t, code, why)
				p.terminate(t)
			})
		})
	}
}

// TestMigrationsStay checks that released migrations do not change: a change would
// have no effect on databases that have applied them.
func TestMigrationsStay(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(releases + "/*.migrations")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	now := migrations(t)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		lines := bufio.NewScanner(bytes.NewReader(text))
		for lines.Scan() {
			sum, path, _ := strings.Cut(lines.Text(), "  ")
			require.Equal(t, sum, now[path], "%s was released: write a new migration instead", path)
		}
	}
}

// migrations returns the digests of all migrations, by their paths in the
// repository.
func migrations(t *testing.T) map[string]string {
	t.Helper()
	root, sums := os.DirFS("../../.."), map[string]string{}
	require.NoError(t, fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git" || e.Name() == "testdata") {
			return fs.SkipDir
		}
		if err != nil || e.IsDir() || !strings.Contains(path, "migrations/") || !strings.HasSuffix(path, ".sql") {
			return err
		}
		text, err := fs.ReadFile(root, path)
		sum := sha256.Sum256(text)
		sums[path] = hex.EncodeToString(sum[:])
		return err
	}))
	return sums
}

// talker asks a contact for its name, and greets it.
const talker = `{
	"format": "trunkline-flow/1", "kind": "flow", "engine": "botengine", "slug": "greeter", "name": "Greeter", "start": "start",
	"variables": {"name": {"type": "string"}},
	"nodes": {
		"start": {"type": "trigger", "config": {"on": [{"kind": "keyword", "keywords": ["hi"]}]}, "next": {"out": "ask"}},
		"ask": {"type": "question", "config": {"prompt": {"text": "Hello! Who are you?"}, "saveTo": "name"}, "next": {"out": "greet"}},
		"greet": {"type": "message", "config": {"text": "Nice to meet you, {{ vars.name }}."}}
	}
}`

// fillRelease uses a server, and keeps its data as that of a version.
func fillRelease(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(releases, 0o750))
	env := []string{"TRUNKLINE_DATA=" + t.TempDir()}
	p, base := start(t, env)
	_, in := post(t, base+"/user/signup", account)
	u := user{base, in["token"].(string)}
	ref := u.do(t, 201, "POST", "/reference", `{"name":"Shop","type":"provider-sandbox"}`)["id"]
	u.do(t, 201, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%v,"webhook":"trunkline://echo"}`, ref))
	bot := u.do(t, 201, "POST", "/bot", fmt.Sprintf(`{"reference":%v,"name":"Greeter","flow":%s}`, ref, talker))
	u.do(t, 200, "POST", fmt.Sprintf("/bot/%s/publish", bot["id"]), "{}")
	project := u.do(t, 201, "POST", "/aiflow/project", `{"name":"Desk"}`)
	u.do(t, 201, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"Front"}`, project["id"]))
	u.do(t, 201, "POST", "/aiflow/credential", `{"name":"crm","kind":"bearer","secret":"a secret of the CRM"}`)
	u.write(t, ref, "hi")
	u.shows(t, ref, "Hello! Who are you?")

	path, err := filepath.Abs(name)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(path+".backup"))
	code, _, why := output(t, env, "backup", path+".backup", "--with-secret")
	require.Zero(t, code, why)
	p.terminate(t)
	var list strings.Builder
	now := migrations(t)
	for _, p := range slices.Sorted(maps.Keys(now)) {
		fmt.Fprintf(&list, "%s  %s\n", now[p], p)
	}
	require.NoError(t, os.WriteFile(path+".migrations", []byte(list.String()), 0o600))
}

// upgraded finds what [fillRelease] has left, and continues with it.
func upgraded(t *testing.T, base string) {
	t.Helper()
	status, in := post(t, base+"/user/login", `{"email":"ana@example.org","password":"correct horse"}`)
	require.Equal(t, 200, status, in)
	u := user{base, in["token"].(string)}
	lines := u.do(t, 200, "GET", "/reference/list", "")["items"].([]any)
	require.Len(t, lines, 1)
	ref := lines[0].(map[string]any)["id"]
	require.Len(t, u.do(t, 200, "GET", fmt.Sprintf("/bot/list?reference=%v", ref), "")["items"], 1)
	require.Len(t, u.do(t, 200, "GET", "/aiflow/project/list", "")["items"], 1)
	require.Len(t, u.do(t, 200, "GET", "/aiflow/credential", "")["items"], 1)
	u.shows(t, ref, "Hello! Who are you?")
	u.write(t, ref, "Maria")
	u.shows(t, ref, "Nice to meet you, Maria.")
	require.Eventually(t, func() bool {
		raw, err := json.Marshal(u.do(t, 200, "GET", fmt.Sprintf("/sandbox/%v/echo", ref), ""))
		return err == nil && strings.Contains(string(raw), "Nice to meet you, Maria.")
	}, time.Minute, 50*time.Millisecond, "the webhook's sealed secret is the same")
}

// user calls the API.
type user struct{ base, token string }

func (u user) do(t *testing.T, want int, method, path, body string) map[string]any {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, u.base+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+u.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	status, answer := send(t, req)
	require.Equal(t, want, status, "%s %s: %v", method, path, answer)
	return answer
}

// write lets the simulated contact write.
func (u user) write(t *testing.T, ref any, text string) {
	t.Helper()
	u.do(t, 201, "POST", fmt.Sprintf("/sandbox/%v/messages", ref), fmt.Sprintf(`{"from":"maria","type":"text","text":%q}`, text))
}

// shows waits until the simulated contact was written a text.
func (u user) shows(t *testing.T, ref any, text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		raw, err := json.Marshal(u.do(t, 200, "GET", fmt.Sprintf("/sandbox/%v/messages?from=maria", ref), ""))
		return err == nil && strings.Contains(string(raw), text)
	}, time.Minute, 50*time.Millisecond, text)
}
