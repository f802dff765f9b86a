package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// canaries are the secrets among the settings, by their flags.
var canaries = map[string]string{
	"secret": "canary-secret-of-at-least-32-characters", "payments-secret": "whsec_canary_payments", "smtp-url": "canary-mail-password",
	"meta-app-secret": "canary-app-secret", "meta-verify-token": "canary-verify-token",
	"openai-key": "canary-openai-key", "anthropic-key": "canary-anthropic-key", "database-url": "canary-database-password",
}

// silent fails when a secret is in what a process has said.
func silent(t *testing.T, what, text string) {
	t.Helper()
	require.NotContains(t, text, "canary", what)
}

// TestSecretsStayInside starts the command with every setting that is a
// secret, uses it, and looks for them in all that it prints, answers and
// counts; then it starts it with each of them wrong.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, database string) {
		if u, err := url.Parse(database); err == nil && u.Scheme != "sqlite" { // the server of the tests asks for no password
			q := u.Query()
			q.Set("password", canaries["database-url"])
			u.RawQuery = q.Encode()
			database = u.String()
		}
		metrics := testkit.FreeAddress(t)
		args := []string{
			"--data", t.TempDir(), "--database-url", database, "--log", "debug", "--log-format", "json", "--metrics-addr", metrics,
			"--payments-secret", canaries["payments-secret"], "--smtp-url", "smtp://chat:" + canaries["smtp-url"] + "@127.0.0.1:1",
			"--openai-key", canaries["openai-key"], "--meta-app-secret", canaries["meta-app-secret"], "--meta-verify-token", canaries["meta-verify-token"],
		}
		env := []string{"TRUNKLINE_SECRET=" + canaries["secret"], "TRUNKLINE_ANTHROPIC_KEY=" + canaries["anthropic-key"]}
		p, base := start(t, env, args...)
		printed := func(method, path, body string, header ...string) string {
			req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			for i := 0; i+1 < len(header); i += 2 {
				req.Header.Set(header[i], header[i+1])
			}
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			silent(t, method+" "+path, fmt.Sprint(res.Header)+string(text))
			return string(text)
		}
		const word = `"canary password"`
		require.Contains(t, printed("POST", "/user/signup", `{"email":"ana@example.org","password":`+word+`,"name":"Ana"}`), "token")
		printed("POST", "/user/login", `{"email":"ana@example.org","password":`+word+`x`)
		printed("POST", "/user/login", `{"email":`+word+`,"password":`+word+`}`)
		printed("POST", "/user/reset", `{"email":"ana@example.org"}`)
		printed("POST", "/payments", `{}`, "Stripe-Signature", canaries["payments-secret"])
		printed("GET", "/user/me", "", "Authorization", "Bearer "+canaries["secret"])
		for _, path := range []string{"/", "/probe", "/swagger", "/swagger/openapi.json", "/panel/", "/canary", "/user/me?token=canary"} {
			printed("GET", strings.ReplaceAll(path, "canary", "x"), "")
		}
		res, err := http.Get("http://" + metrics + "/metrics")
		require.NoError(t, err)
		defer res.Body.Close()
		counted, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		silent(t, "metrics", string(counted))
		p.stderr.until(t, "mail") // its server is out of reach
		code, link, text := output(t, env, "user", "reset", "ana@example.org", "--database-url", database)
		require.Zero(t, code, text)
		token := link[strings.LastIndex(link, "#")+1:]
		p.terminate(t)
		require.Contains(t, p.stderr.String(), `"level":"DEBUG"`)
		require.NotContains(t, p.stderr.String(), strings.TrimSpace(token))
		silent(t, "stderr", p.stderr.String())
		silent(t, "stderr of user reset", text)

		silent(t, "other secret", refused(t, []string{"TRUNKLINE_SECRET=canary-of-another-secret-that-is-long"}, args...))
	})
}

// TestWrongSecrets starts the command with each secret in a form that cannot
// be used.
func TestWrongSecrets(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "canary-folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	for flag, values := range map[string][]string{
		"secret":          {"canary", "@canary", "@" + folder, "canary-secret-of-at-least-32-characters,canary"},
		"payments-secret": {"@canary"},
		"meta-app-secret": {"@canary"}, "meta-verify-token": {"@canary"},
		"openai-key": {"@canary"},
		"smtp-url":   {"smtp://chat:canary", "canary", "smtp://chat:can%ary@h", "smtps://chat:canary@:x"},
		"database-url": {
			"postgres://u:canary%@h/d", "canary", "postgres://u:canary@[::1/d", "postgres://u:canary@127.0.0.1:1/d?sslmode=no",
		},
		"media":         {"s3://"},
		"webhook-allow": {"http://u:canary@h"},
		"base-url":      {"https://u:canary@example.org"},
		"graph-url":     {"https://u:canary@example.org", "canary"},
		"openai-url":    {"https://u:canary@example.org"},
	} {
		for _, v := range values {
			t.Run(flag+"="+strings.ReplaceAll(v, "/", "|"), func(t *testing.T) {
				t.Parallel()
				silent(t, flag, refused(t, []string{"TRUNKLINE_DATA=" + t.TempDir()}, "--"+flag+"="+v))
			})
		}
	}
}

// TestWaitingSecrets lets the server wait for a database that cannot be reached.
func TestWaitingSecrets(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{
		"user":  "postgres://u:canary@127.0.0.1:1/d?sslmode=disable&connect_timeout=1",
		"query": "postgres://127.0.0.1:1/d?password=canary&sslmode=disable",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := command(t, []string{"TRUNKLINE_DATA=" + t.TempDir()}, "--addr", "127.0.0.1:0", "--database-url="+url)
			require.NoError(t, p.Start())
			p.stderr.until(t, "the server waits until it can start")
			require.NoError(t, p.Process.Signal(syscall.SIGTERM))
			require.NoError(t, p.Wait(), p.stderr)
			require.Contains(t, p.stderr.String(), "connection refused")
			silent(t, "the reason", p.stderr.String())
		})
	}
}
