package server_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// The answers of the programs in docs/webhooks.md.
const (
	answerMessage = "We got your message."
	answerStatus  = "We have read your message."
	answerData    = "We noted what you wrote."
	answerCall    = "Sorry that we missed your call."
)

// answerers start the programs of docs/webhooks.md that answer events, by the
// names of their blocks, and return where they listen.
var answerers = map[string]func(t *testing.T, code string, env []string) (url string){
	"answer-curl": func(t *testing.T, code string, env []string) string {
		for _, needed := range []string{"bash", "curl", "jq", "openssl"} {
			testkit.Program(t, needed)
		}
		program := programFile(t, "answer.cgi", code)
		require.NoError(t, os.Chmod(program, 0o700))
		s := httptest.NewServer(&cgi.Handler{Path: program, Env: env, Stderr: t.Output()})
		t.Cleanup(s.Close)
		return s.URL
	},
	"answer-go": func(t *testing.T, code string, env []string) string {
		return runAnswerer(t, code, env, func(code string) *exec.Cmd {
			source := programFile(t, "answer.go", code)
			program := filepath.Join(filepath.Dir(source), "answer")
			out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, source).CombinedOutput()
			require.NoError(t, err, "%s", out)
			return exec.CommandContext(t.Context(), program)
		})
	},
	"answer-js": func(t *testing.T, code string, env []string) string {
		return runAnswerer(t, code, env, func(code string) *exec.Cmd {
			return exec.CommandContext(t.Context(), testkit.Program(t, "node"), programFile(t, "answer.mjs", code))
		})
	},
	"answer-python": func(t *testing.T, code string, env []string) string {
		return runAnswerer(t, code, env, func(code string) *exec.Cmd {
			return exec.CommandContext(t.Context(), testkit.Program(t, "python3"), programFile(t, "answer.py", code))
		})
	},
	"answer-php": func(t *testing.T, code string, env []string) string {
		return runAnswerer(t, code, env, func(code string) *exec.Cmd {
			_, command, found := strings.Cut(code, "<?php // php ")
			require.True(t, found)
			command, _, _ = strings.Cut(command, "\n")
			cmd := exec.CommandContext(t.Context(), testkit.Program(t, "php"), strings.Fields(command)...)
			cmd.Dir = filepath.Dir(programFile(t, "answer.php", code))
			return cmd
		})
	},
}

// programFile writes a program into a folder of its own.
func programFile(t *testing.T, name, code string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(code), 0o600))
	return path
}

// runAnswerer runs a program that listens, on a port of its own.
func runAnswerer(t *testing.T, code string, env []string, command func(code string) *exec.Cmd) (url string) {
	t.Helper()
	require.Equal(t, 1, strings.Count(code, "4000"))
	addr := testkit.FreeAddress(t)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	cmd := command(strings.Replace(code, "4000", port, 1))
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	testkit.AwaitListener(t, addr)
	return "http://" + addr
}

// TestAnswerGuide runs the programs of docs/webhooks.md that answer events.
// Each gets an event of every kind that has a chat, over HTTP from a server
// that it answers over HTTP; the answers must reach the contact whose event it
// was, each once, whatever is delivered again or forged.
func TestAnswerGuide(t *testing.T) {
	t.Parallel()
	guide := testkit.ReadGuide(t, "../docs/webhooks.md")
	for name, start := range answerers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			number := cloudNumber("900")
			g := startGraph(t, &graphtest.Options{Numbers: []graphtest.Number{number}})
			f := working(t, setup(t, func(c *server.Config) { c.GraphURL, c.WebhookAllow = g.URL, []string{"127.0.0.1"} }))
			running := httptest.NewServer(f)
			t.Cleanup(running.Close)
			g.SetCallback(running.URL + "/webhooks/provider")
			ana := f.as(t, "ana")
			_, program := ana.scoped(t, `["chats.send"]`)
			secret := "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret of tests, 32 bytes long."))
			env := []string{"TRUNKLINE_URL=" + running.URL, "TRUNKLINE_TOKEN=" + program.token, "WEBHOOK_SECRET=" + secret}
			for _, set := range env {
				variable, _, _ := strings.Cut(set, "=")
				require.Contains(t, guide.Block(t, "answer-env"), "export "+variable+"=")
			}
			url := start(t, guide.Block(t, name), env)
			sandbox, cloud := ana.sandbox(t), ana.reference(t, reference(number))
			for _, ref := range []int{sandbox, cloud} {
				ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q,"secret":%q}`, ref, url, secret)).json(201)
			}
			ana.extractor(t, sandbox, "regex", `{"pattern":"(?P<order>[A-Z]-\\d+)"}`)

			// A message, with a value in it, and the status of having been read.
			ana.write(t, sandbox, "maria", "Where is order A-17?")
			ana.awaitShown(t, sandbox, "maria", "out: Where is order A-17?", "in: "+answerMessage, "in: "+answerData)
			ana.call(t, "POST", "/chats/read", fmt.Sprintf(`{"reference":%d,"chatId":"maria"}`, sandbox)).json(200)
			all := []string{"out: Where is order A-17?", "in: " + answerMessage, "in: " + answerData, "in: " + answerStatus}
			ana.awaitShown(t, sandbox, "maria", all...)

			// A call, of a network that has calls.
			require.NoError(t, g.PostChange(t.Context(), "900", "calls", missedCall(contact)))
			ana.until(t, func() bool { return len(g.Shown(contact)) > 0 })
			require.Equal(t, answerCall, g.Shown(contact)[0].Text)

			// What is delivered again is not answered again; nor is a forgery.
			ana.deliverAgain(t, sandbox, "maria")
			ana.write(t, sandbox, "joe", "Hello")
			ana.awaitShown(t, sandbox, "joe", "out: Hello", "in: "+answerMessage)
			require.Equal(t, all, ana.shown(t, sandbox, "maria"))
			stranger := "whsec_" + base64.StdEncoding.EncodeToString([]byte("the secret of somebody else"))
			require.Equal(t, http.StatusUnauthorized, forgeEvent(t, url, stranger, time.Now(), sandbox))
			require.Equal(t, http.StatusUnauthorized, forgeEvent(t, url, secret, time.Now().Add(-6*time.Minute), sandbox))
			require.Equal(t, []string{"out: Hello", "in: " + answerMessage}, ana.shown(t, sandbox, "joe"))
		})
	}
}

// deliverAgain repeats all events of a chat that were delivered, and waits
// until each was taken a second time.
func (c client) deliverAgain(t *testing.T, ref int, contact string) {
	t.Helper()
	list := fmt.Sprintf("/references/deliveries?reference=%d&chatId=%s&limit=200", ref, contact)
	taken := func(times int) (ids []string, all bool) {
		all = true
		for _, it := range c.call(t, "GET", list, "").json(200)["items"].([]any) {
			d := it.(map[string]any)
			ids = append(ids, d["id"].(string))
			all = all && d["state"] == "delivered" && len(d["attempts"].([]any)) >= times
		}
		return ids, all
	}
	var ids []string
	c.until(t, func() (all bool) {
		ids, all = taken(1)
		return all
	})
	body, err := json.Marshal(map[string]any{"ids": ids})
	require.NoError(t, err)
	c.call(t, "POST", "/references/deliveries/replay", string(body)).is(200, fmt.Sprintf(`{"queued":%d}`, len(ids)))
	c.until(t, func() bool {
		_, all := taken(2)
		return all
	})
}

// forgeEvent posts an event that is signed with a secret at a time.
func forgeEvent(t *testing.T, url, secret string, at time.Time, ref int) (status int) {
	t.Helper()
	body := fmt.Sprintf(`{"reference":%d,"chatId":"joe@sandbox","mine":false,"status":"DELIVERED"}`, ref)
	signer, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	signature, err := signer.Sign("forged", at, []byte(body))
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range map[string]string{
		"X-Trunkline-Event": "message", "webhook-id": "forged", "webhook-timestamp": strconv.FormatInt(at.Unix(), 10), "webhook-signature": signature,
	} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}
