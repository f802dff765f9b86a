package webhook_test

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

const guide = "../docs/webhooks.md"

// TestGuide runs the receivers that the guide shows, in each language, and
// delivers to them: an independent check of our signatures, and of the guide.
// The one in JavaScript verifies with the official library.
func TestGuide(t *testing.T) {
	t.Parallel()
	blocks, err := testkit.Blocks(guide)
	require.NoError(t, err)
	for language, command := range guests {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			f := running(t, testkit.Open(t, testkit.SQLiteURL(t)), webhook.Options{Policy: fast})
			old, fresh := secretOf(24), secretOf(32)
			one, two := startGuest(t, command, blocks[language], old), startGuest(t, command, blocks[language], fresh)

			f.register(t, one.url, old)
			f.publish(t, event("a", 1), event("a", 2))
			one.prints(t, `message {"key":"a","n":1}`)
			one.prints(t, `message {"key":"a","n":2}`)

			// While the secret is replaced, both receivers accept.
			rec := receive(t, nil)
			f.register(t, rec.URL, old)
			f.register(t, rec.URL, fresh)
			f.register(t, one.url, fresh)
			f.publish(t, event("a", 3))
			seen := rec.wait(t, 1)[0]
			require.Len(t, strings.Fields(seen.header.Get("webhook-signature")), 2)
			one.prints(t, `message {"key":"a","n":3}`)
			require.Equal(t, 204, two.take(t, seen, nil))
			two.prints(t, `message {"key":"a","n":3}`)

			// A repetition is taken, but not handled again; what was changed is refused.
			for _, g := range []*guest{one, two} {
				require.Equal(t, 204, g.take(t, seen, nil))
				for what, change := range changes(t, old, fresh) {
					require.Equal(t, 401, g.take(t, seen, change), what)
				}
			}

			// A receiver with another secret refuses, and the log says so.
			stranger := f.register(t, two.url, secretOf(40))
			f.publish(t, event("a", 5))
			one.prints(t, `message {"key":"a","n":5}`)
			f.until(t, func() bool {
				log, err := f.Deliveries(t.Context(), webhook.DeliveryFilter{Scope: scope, Endpoint: stranger})
				return err == nil && len(log.Items) == 1 && len(log.Items[0].Attempts) > 0 && log.Items[0].Attempts[0].StatusCode == 401
			})
		})
	}
}

// register adds an endpoint, or replaces its secret, and returns its id.
func (f *fixture) register(t *testing.T, url, secret string) string {
	t.Helper()
	ep, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: url, Secret: secret})
	require.NoError(t, err)
	return ep.ID
}

// changes make a delivery, signed with secrets, one that must be refused.
func changes(t *testing.T, secrets ...string) map[string]func(*request) {
	t.Helper()
	set := func(name, value string) func(*request) {
		return func(r *request) { r.header.Set(name, value) }
	}
	return map[string]func(*request){
		"body":      func(r *request) { r.body = strings.Replace(r.body, "3", "4", 1) },
		"id":        set("webhook-id", "another"),
		"time":      set("webhook-timestamp", strconv.FormatInt(time.Now().Unix()+1, 10)),
		"no time":   set("webhook-timestamp", ""),
		"long ago":  func(r *request) { signAgain(t, r, time.Now().Add(-6*time.Minute), secrets...) },
		"ahead":     func(r *request) { signAgain(t, r, time.Now().Add(6*time.Minute), secrets...) },
		"stranger":  func(r *request) { signAgain(t, r, time.Now(), secretOf(40)) },
		"signature": set("webhook-signature", "v1,AAAA"),
		"none":      set("webhook-signature", ""),
		"no version": func(r *request) {
			r.header.Set("webhook-signature", strings.ReplaceAll(r.header.Get("webhook-signature"), "v1,", ""))
		},
	}
}

// guests are the languages of the guide: how a file becomes a program.
var guests = map[string]func(t *testing.T, code string) *exec.Cmd{
	"go": func(t *testing.T, code string) *exec.Cmd {
		dir := t.TempDir()
		source, bin := filepath.Join(dir, "main.go"), filepath.Join(dir, "receiver")
		require.NoError(t, os.WriteFile(source, []byte(code), 0o600))
		out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, source).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return exec.CommandContext(t.Context(), bin)
	},
	"js": func(t *testing.T, code string) *exec.Cmd {
		node, source := testkit.Program(t, "node"), filepath.Join(t.TempDir(), "receiver.mjs")
		require.NoError(t, os.Symlink(testkit.NodeModules(t), filepath.Join(filepath.Dir(source), "node_modules")))
		require.NoError(t, os.WriteFile(source, []byte(code), 0o600))
		return exec.CommandContext(t.Context(), node, source)
	},
	"php": func(t *testing.T, code string) *exec.Cmd {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "receiver.php"), []byte(code), 0o600))
		command, _, _ := strings.Cut(code, "\n")
		_, command, _ = strings.Cut(command, "<?php // php ")
		cmd := exec.CommandContext(t.Context(), testkit.Program(t, "php"), strings.Fields(command)...)
		cmd.Dir = dir
		return cmd
	},
	"python": func(t *testing.T, code string) *exec.Cmd {
		return exec.CommandContext(t.Context(), testkit.Program(t, "python3"), "-c", code)
	},
}

// guest is a receiver that runs.
type guest struct {
	url string
	out *bufio.Scanner
}

// startGuest runs a block of the guide on a port of its own.
func startGuest(t *testing.T, command func(*testing.T, string) *exec.Cmd, block, secret string) *guest {
	t.Helper()
	require.Equal(t, 1, strings.Count(block, "4000"))
	_, port, err := net.SplitHostPort(testkit.FreeAddress(t))
	require.NoError(t, err)
	cmd := command(t, strings.Replace(block, "4000", port, 1))
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Log(stderr.String())
		}
	})
	testkit.AwaitListener(t, "127.0.0.1:"+port)
	return &guest{"http://127.0.0.1:" + port + "/", bufio.NewScanner(pipe)}
}

// prints requires the next line of the receiver, so that nothing else was
// handled before.
func (g *guest) prints(t *testing.T, want string) {
	t.Helper()
	require.True(t, g.out.Scan())
	require.Equal(t, want, g.out.Text())
}

// take posts what another receiver heard, changed or not.
func (g *guest) take(t *testing.T, seen request, change func(*request)) int {
	t.Helper()
	seen.header = seen.header.Clone()
	if change != nil {
		change(&seen)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.url, strings.NewReader(seen.body))
	require.NoError(t, err)
	req.Header = seen.header
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

// signAgain signs a request again with the official library of Go.
func signAgain(t testing.TB, r *request, at time.Time, secrets ...string) {
	t.Helper()
	var all []string
	for _, s := range secrets {
		h := signed(t, s, r.header.Get("webhook-id"), at, r.body)
		all = append(all, h.Get("webhook-signature"))
		r.header.Set("webhook-timestamp", h.Get("webhook-timestamp"))
	}
	r.header.Set("webhook-signature", strings.Join(all, " "))
}
