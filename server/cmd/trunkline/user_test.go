package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// typed runs a command that ends by itself, with what it is given on standard
// input.
func typed(t *testing.T, env []string, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := command(t, env, args...)
	var out bytes.Buffer
	p.Stdin, p.Stdout = strings.NewReader(stdin), &out
	err := p.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), out.String(), p.stderr.String()
	}
	require.NoError(t, err)
	return 0, out.String(), p.stderr.String()
}

// TestUsers manages users while a server runs.
func TestUsers(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		env := []string{"TRUNKLINE_DATABASE_URL=" + url, "TRUNKLINE_DATA=" + t.TempDir(), "TRUNKLINE_SIGNUP=closed"}
		p, base := start(t, env)
		done := func(stdin string, args ...string) string {
			t.Helper()
			code, out, why := typed(t, env, stdin, append([]string{"user"}, args...)...)
			require.Zero(t, code, why)
			return out
		}
		login := func(email, password string) int {
			t.Helper()
			body, err := json.Marshal(map[string]string{"email": email, "password": password})
			require.NoError(t, err)
			status, _ := post(t, base+"/user/login", string(body))
			return status
		}
		require.Regexp(t, `^Created ana@example.org in account \S+\n$`, done("correct horse\n", "create", "Ana@example.org"))
		var users []listed
		require.NoError(t, json.Unmarshal([]byte(done("", "list", "--json")), &users))
		require.Equal(t, "ana", strings.ToLower(users[0].Name))
		done("correct horse", "create", "ben@example.org", "--name", "Ben B", "--account", users[0].Account, "--permissions", "chats.read,chats.send")
		table := done("", "list")
		require.Regexp(t, `(?m)^ben@example.org +Ben B +`+users[0].Account+` +2 of \d+ +20\d\d-\d\d-\d\d +$`, table)
		require.Equal(t, 200, login("ben@example.org", "correct horse"))

		done("", "disable", "ben@example.org")
		require.Equal(t, 401, login("ben@example.org", "correct horse"))
		require.Contains(t, done("", "list"), "disabled")
		done("", "enable", "ben@example.org")
		done("another password\n", "password", "ben@example.org")
		require.Eventually(t, func() bool { return login("ben@example.org", "another password") == 200 }, time.Minute, 100*time.Millisecond)
		p.terminate(t)
		require.NotContains(t, p.stderr.String(), "another password")
	})
}

// TestUsersRefused names what is wrong, and never a password.
func TestUsersRefused(t *testing.T) {
	t.Parallel()
	env := []string{"TRUNKLINE_DATA=" + t.TempDir()}
	p, _ := start(t, env)
	p.terminate(t)
	for _, c := range []struct {
		stdin, says string
		code        int
		args        []string
	}{
		{"", "the password: must be the first line of standard input: EOF", 2, []string{"create", "ana@example.org"}},
		{"hush hush\n", "the password: must have at least 10 characters", 2, []string{"create", "ana@example.org"}},
		{"password123\n", "the password: is one of the most common passwords", 2, []string{"create", "ana@example.org"}},
		{"hush hush hush\n", "E-MAIL: must be an e-mail address", 2, []string{"create", "ana"}},
		{"hush hush hush\n", "--permissions: must be permissions that exist: GET /user/permissions lists them", 2, []string{"create", "ana@example.org", "--permissions", "all"}},
		{"hush hush hush\n", "--account: there is no such account", 2, []string{"create", "ana@example.org", "--account", "none"}},
		{"hush hush hush\n", "there is no user with this e-mail", 1, []string{"password", "ana@example.org"}},
		{"", "there is no user with this e-mail", 1, []string{"disable", "ana@example.org"}},
		{"", "there is no user with this e-mail", 1, []string{"second-factor-off", "ana@example.org"}},
		{"", "unknown flag --password", 2, []string{"create", "ana@example.org", "--password", "hush hush hush"}},
	} {
		code, out, why := typed(t, env, c.stdin, append([]string{"user"}, c.args...)...)
		require.Equal(t, c.code, code, why)
		require.Empty(t, out)
		require.Contains(t, why, c.says)
		require.NotContains(t, why, "hush")
	}
}
