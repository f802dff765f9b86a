package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// linkIn finds the one link to set a password in a text, and its token.
func linkIn(t *testing.T, text, base string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^(\S+)/panel/reset#(\S+)$`).FindAllStringSubmatch(text, -1)
	require.Len(t, found, 1, text)
	require.Equal(t, base, found[0][1])
	return found[0][2]
}

// output runs a command that ends by itself.
func output(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := command(t, env, args...)
	var out bytes.Buffer
	p.Stdout = &out
	err := p.Run()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit)
		code = exit.ExitCode()
	}
	return code, out.String(), p.stderr.String()
}

// resetWith uses a link, once, and logs in with the new password.
func resetWith(t *testing.T, base, token string) {
	t.Helper()
	body := fmt.Sprintf(`{"token":%q,"password":"another password"}`, token)
	status, answer := post(t, base+"/user/reset", body)
	require.Equal(t, 200, status, answer)
	status, _ = post(t, base+"/user/reset", body)
	require.Equal(t, 422, status, "it works once")
	status, _ = post(t, base+"/user/login", `{"email":"ana@example.org","password":"correct horse"}`)
	require.Equal(t, 401, status)
	status, _ = post(t, base+"/user/login", `{"email":"ana@example.org","password":"another password"}`)
	require.Equal(t, 200, status)
}

// TestUserReset lets the operator help a user while the server runs.
func TestUserReset(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		env := []string{"TRUNKLINE_DATABASE_URL=" + url, "TRUNKLINE_DATA=" + t.TempDir()}
		p, base := start(t, env)
		status, _ := post(t, base+"/user/signup", account)
		require.Equal(t, 201, status)
		code, out, text := output(t, env, "user", "reset", "Ana@Example.org", "--base-url", base)
		require.Zero(t, code, text)
		require.Empty(t, text)
		token := linkIn(t, out, base)
		require.Equal(t, base+"/panel/reset#"+token+"\n", out, "the link and nothing else")
		resetWith(t, base, token)
		require.NotContains(t, p.stderr.String(), token)
		p.terminate(t)

		code, out, text = output(t, env, "user", "reset", "nobody@example.org")
		require.Equal(t, 1, code)
		require.Empty(t, out)
		require.Equal(t, "trunkline: there is no user with this e-mail\n", text)
		code, out, _ = output(t, env, "user", "reset", "ana@example.org", "--addr", ":4000")
		require.Zero(t, code, "the server need not run")
		linkIn(t, out, "http://localhost:4000")
	})
}

// TestUserResetOfNothing checks that no database is created.
func TestUserResetOfNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, c := range []struct {
		says string
		args []string
	}{
		{"--data: the database does not exist", []string{"user", "reset", "ana@example.org", "--data", data}},
		{"--database-url: the database does not exist", []string{"user", "reset", "ana@example.org", "--database-url", "sqlite://" + data + "/x.db"}},
		{"expected \"<e-mail>\"", []string{"user", "reset"}},
		{"--log: must be", []string{"user", "reset", "ana@example.org", "--log", "loud"}},
	} {
		code, out, text := output(t, nil, c.args...)
		require.Equal(t, 2, code, text)
		require.Empty(t, out)
		require.Contains(t, text, c.says)
	}
	p, _ := start(t, nil, "--data", data)
	p.terminate(t)
	code, _, text := output(t, nil, "user", "reset", "nobody", "--data", data)
	require.Equal(t, 2, code)
	require.Equal(t, "trunkline: E-MAIL: must be an e-mail address\n", text)
}

// TestResetMail asks for a link, which comes by mail from a server whose
// certificate must be trusted.
func TestResetMail(t *testing.T) {
	t.Parallel()
	const secret = "password-of-the-mail-server"
	m := testkit.MailServer(t, testkit.MailOptions{TLS: true, User: "chat", Password: secret})
	p, base := start(t, []string{"SSL_CERT_FILE=" + m.CertFile}, "--data", t.TempDir(), "--log", "debug",
		"--smtp-url", "smtp://chat:"+secret+"@"+m.Addr+"?tls=required")
	status, _ := post(t, base+"/user/signup", account)
	require.Equal(t, 201, status)
	for _, email := range []string{"nobody@example.org", "ana@example.org"} {
		status, answer := post(t, base+"/user/reset", fmt.Sprintf(`{"email":%q}`, email))
		require.Equal(t, 202, status)
		require.Equal(t, map[string]any{"success": true}, answer)
	}
	require.Eventually(t, func() bool { return len(m.Delivered(t)) > 0 }, time.Minute, 10*time.Millisecond, p.stderr)
	got := m.Delivered(t)[0]
	require.Equal(t, "ana@example.org", got.Get("X-RcptTo"))
	require.Equal(t, "trunkline@localhost", got.Get("X-MailFrom"))
	require.Equal(t, "Set a new password", got.Get("Subject"))
	require.NotContains(t, got.Text, "Ana", "whoever signed up another could have written anything into the name")
	token := linkIn(t, got.Text, strings.Replace(base, "127.0.0.1", "localhost", 1))
	resetWith(t, base, token)
	p.terminate(t)
	require.Len(t, m.Delivered(t), 1, "nobody got none")
	for _, hidden := range []string{token, secret, "another password"} {
		require.NotContains(t, p.stderr.String(), hidden)
	}
}
