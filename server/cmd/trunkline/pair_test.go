package main_test

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"rsc.io/qr"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// pair starts the command that links a line.
func pair(t *testing.T, n *node, stdin string, args ...string) (cmd *exec.Cmd, out *bufio.Reader, printed *text) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), binary(t, "trunkline"), append([]string{"pair", "--server", "http://" + n.host}, args...)...)
	cmd.Dir = t.TempDir()
	printed = &text{}
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), printed
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewReader(pipe), printed
}

// modules reads a code that is drawn with half blocks: true is dark.
func modules(t *testing.T, out *bufio.Reader) [][]bool {
	t.Helper()
	var rows [][]bool
	for {
		line, err := out.ReadString('\n')
		require.NoError(t, err)
		line = strings.TrimSuffix(line, "\n")
		var upper, lower []bool
		for _, r := range line {
			require.Contains(t, "█▀▄ ", string(r))
			upper = append(upper, r == '▄' || r == ' ')
			lower = append(lower, r == '▀' || r == ' ')
		}
		rows = append(rows, upper, lower)
		if len(rows) >= len(upper) {
			return rows[:len(upper)] // the last line may be half a row too long
		}
	}
}

// TestPair links a line with what the command prints.
func TestPair(t *testing.T) {
	t.Parallel()
	r := newWebEnv(t)
	n := r.launch(t, "--data", t.TempDir())
	r.balancer.open(n)
	r.signUp(t)
	ref := int(r.call(t, 201, "POST", "/reference", `{"name":"Shop","type":"provider-web"}`)["id"].(float64))
	args := []string{"--email", "ana@example.org", "--reference", fmt.Sprint(ref)}

	cmd, out, printed := pair(t, n, "correct horse\n", args...)
	line, err := out.ReadString('\n')
	require.NoError(t, err, printed)
	require.Contains(t, line, "Linked devices")
	shown := modules(t, out)
	scanned := r.session(t, ref)["qr"].(map[string]any)["code"].(string)
	want, err := qr.Encode(scanned, qr.L)
	require.NoError(t, err)
	border := (len(shown) - want.Size) / 2
	require.Positive(t, border)
	for y, row := range shown {
		for x, dark := range row {
			require.Equal(t, want.Black(x-border, y-border), dark, "module %d/%d", x, y)
		}
	}
	owner := r.fake.AddPhone(&webtest.PhoneOptions{Name: "Shop"})
	device, err := owner.Scan(within(t), scanned)
	require.NoError(t, err)
	require.NoError(t, device.AwaitActive(within(t)))
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Equal(t, "Connected: "+number(owner), strings.TrimSpace(string(rest)))
	require.NoError(t, cmd.Wait(), printed)

	cmd, out, printed = pair(t, n, "", "--token", r.token, "--reference", fmt.Sprint(ref))
	rest, err = io.ReadAll(out)
	require.NoError(t, err)
	require.Contains(t, string(rest), "Connected: "+number(owner), "it is linked already")
	require.NoError(t, cmd.Wait(), printed)
	n.terminate(t)
}

// TestPairPasskey says what to do about an account with a passkey, and ends when the
// reference is linked.
func TestPairPasskey(t *testing.T) {
	t.Parallel()
	r := newWebEnv(t)
	n := r.launch(t, "--data", t.TempDir())
	r.balancer.open(n)
	r.signUp(t)
	ref := int(r.call(t, 201, "POST", "/reference", `{"name":"Shop","type":"provider-web"}`)["id"].(float64))
	cmd, out, printed := pair(t, n, "", "--token", r.token, "--reference", fmt.Sprint(ref))
	line, err := out.ReadString('\n')
	require.NoError(t, err, printed)
	require.Contains(t, line, "Linked devices")
	modules(t, out)
	owner := r.fake.AddPhone(&webtest.PhoneOptions{Passkey: true, ForgetsHandoff: true})
	_, err = owner.Scan(within(t), r.session(t, ref)["qr"].(map[string]any)["code"].(string))
	require.ErrorIs(t, err, webtest.ErrPasskey)
	says := func(what string) {
		t.Helper()
		for !strings.Contains(line, what) {
			line, err = out.ReadString('\n')
			require.NoError(t, err, printed)
		}
		require.Contains(t, line, "POST /reference/session/passkey")
	}
	says("WhatsApp asks for the passkey")
	challenge := r.session(t, ref)["passkey"].(map[string]any)["options"].(map[string]any)["challenge"].(string)
	for range 2 {
		r.call(t, 200, "POST", "/reference/session/passkey", fmt.Sprintf(`{"reference":%d,"credential":%s}`, ref, owner.Passkey().Sign(challenge)))
	}
	says("Does the phone show the code ")
	require.Contains(t, line, owner.Passkey().Code()+"?")
	r.call(t, 200, "POST", "/reference/session/passkey", fmt.Sprintf(`{"reference":%d,"confirmed":true}`, ref))
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Contains(t, string(rest), "Connected: "+number(owner))
	require.NoError(t, cmd.Wait(), printed)
	n.terminate(t)
}

// TestPairRefused says in one line why a line cannot be linked.
func TestPairRefused(t *testing.T) {
	t.Parallel()
	r := newWebEnv(t)
	n := r.launch(t, "--data", t.TempDir())
	r.balancer.open(n)
	r.signUp(t)
	sandbox := int(r.call(t, 201, "POST", "/reference", `{"name":"Try","type":"provider-sandbox"}`)["id"].(float64))
	for name, c := range map[string]struct {
		stdin string
		args  []string
		code  int
		says  string
	}{
		"no line":        {"", []string{"--token", r.token}, 2, "--reference"},
		"nobody":         {"", []string{"--reference", "1"}, 2, "--token: or --email is required"},
		"no password":    {"", []string{"--reference", "1", "--email", "ana@example.org"}, 2, "TRUNKLINE_PASSWORD"},
		"wrong password": {"wrong horse\n", []string{"--reference", "1", "--email", "ana@example.org"}, 1, "the server answered 401"},
		"unknown line":   {"", []string{"--reference", "99", "--token", r.token}, 1, "the server answered 404"},
		"another kind":   {"", []string{"--reference", fmt.Sprint(sandbox), "--token", r.token}, 1, "is only allowed for references that are linked to a phone"},
		"no server":      {"", []string{"--reference", "1", "--token", r.token, "--server", "http://127.0.0.1:1"}, 1, "asking the server"},
		"no address":     {"", []string{"--reference", "1", "--token", r.token, "--server", "nowhere"}, 2, "--server: "},
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // the server ends with the test
			cmd, out, printed := pair(t, n, c.stdin, c.args...)
			rest, err := io.ReadAll(out)
			require.NoError(t, err)
			require.Empty(t, rest)
			var exit *exec.ExitError
			require.ErrorAs(t, cmd.Wait(), &exit, printed)
			require.Equal(t, c.code, exit.ExitCode(), printed)
			require.Equal(t, 1, strings.Count(printed.String(), "\n"), printed)
			require.Contains(t, printed.String(), c.says)
			require.NotContains(t, printed.String(), r.token)
		})
	}
	n.terminate(t)
}
