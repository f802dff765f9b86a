package main_test

import (
	"bufio"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
)

const secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"

// TestReceiver runs the program and posts to it.
func TestReceiver(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "webhookreceiver")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)

	out, err = exec.CommandContext(t.Context(), bin).CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 2, exit.ExitCode())
	require.Contains(t, string(out), "WEBHOOK_SECRET")

	addr := freeAddr(t)
	cmd := exec.CommandContext(t.Context(), bin, "-addr", addr)
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret)
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)

	require.Equal(t, 204, post(t, addr, secret, "msg_1", "1", `{"text":"Hello"}`))
	require.Equal(t, 204, post(t, addr, secret, "msg_1", "1", `{"text":"Hello"}`), "a repetition")
	require.Equal(t, 401, post(t, addr, "whsec_"+strings.Repeat("QUFB", 8), "msg_2", "2", `{"text":"Forged"}`))
	require.Equal(t, 204, post(t, addr, secret, "msg_3", "3", `{"text":"Bye"}`))
	printed := bufio.NewScanner(pipe)
	for _, want := range []string{`message 1: {"text":"Hello"}`, `message 3: {"text":"Bye"}`} {
		require.True(t, printed.Scan())
		require.Equal(t, want, printed.Text())
	}
}

// freeAddr is an address that nobody listens on.
func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	return ln.Addr().String()
}

// post delivers a body that the official library signed.
func post(t *testing.T, addr, secret, id, sequence, body string) int {
	t.Helper()
	wh, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	now := time.Now()
	signature, err := wh.Sign(id, now, []byte(body))
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("webhook-signature", signature)
	req.Header.Set("X-Trunkline-Event", "message")
	req.Header.Set("X-Trunkline-Sequence", sequence)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}
