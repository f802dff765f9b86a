package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

const (
	largeFile = 64 << 20
	largeRSS  = 32 << 10 // KiB
)

// TestLargeMedia moves a file of 64 MiB in, out and through the server, whose
// memory grows by less than half of it.
func TestLargeMedia(t *testing.T) { //nolint:paralleltest // the kernel must not be short of memory for other tests
	r := newEnv(t)
	args := r.args("--data", t.TempDir())
	n := launch(t, args...)
	r.balancer.open(n)
	r.setup(t)
	n.terminate(t) // the next one has no memory left from hashing a password
	n = launch(t, args...)
	r.balancer.open(n)
	r.http.Timeout = 0
	body := bytes.Repeat([]byte("0123456789abcdef"), largeFile/16)
	sum := sha256.Sum256(body)
	const from = "16505551234"
	peak(t, n) // what starting took is past
	before := peak(t, n)
	t.Logf("before: %d KiB", before)

	id := r.graph.Files.Put("", "application/pdf", body)
	_, err := r.graph.Write(t.Context(), graphtest.Inbound{From: from, Type: "document", Body: map[string]any{
		"id": id, "mime_type": "application/pdf", "filename": "large.pdf", "sha256": base64.StdEncoding.EncodeToString(sum[:]),
	}})
	require.NoError(t, err)
	var link string
	require.Eventually(t, func() bool {
		page := r.call(t, 200, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s", r.ref, from), "")
		link, _ = page["items"].([]any)[0].(map[string]any)["fileUrl"].(string)
		return link != ""
	}, time.Minute, 50*time.Millisecond)
	got := grown(t, n, before, "receiving")
	require.Equal(t, sum[:], r.digest(t, link))
	got = max(got, grown(t, n, before, "serving"))

	stored := r.upload(t, body, "large.pdf")
	got = max(got, grown(t, n, before, "keeping"))
	require.Equal(t, sum[:], r.digest(t, stored["fileUrl"].(string)))
	r.call(t, 200, "POST", "/chats/send?wait=30", fmt.Sprintf(
		`{"reference":%d,"chatId":%q,"message":{"type":"document","mediaId":%q}}`, r.ref, from, stored["mediaId"]))
	shown, err := r.graph.WaitShown(t.Context(), from, 1)
	require.NoError(t, err)
	require.Equal(t, "document", shown[0].Type)
	got = max(got, grown(t, n, before, "sending"))
	require.Less(t, got, largeRSS)
}

// digest downloads what a link leads to.
func (r *env) digest(t *testing.T, link string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, balancerURL+"/"+link, nil)
	require.NoError(t, err)
	res, err := r.http.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, res.Body)
	require.NoError(t, err)
	return hash.Sum(nil)
}

// peak returns the most memory that a server has had since the last look, in KiB.
func peak(t *testing.T, n *node) int {
	t.Helper()
	proc := fmt.Sprintf("/proc/%d/", n.cmd.Process.Pid)
	status, err := os.ReadFile(proc + "status")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(status), "VmHWM:")
	require.True(t, ok)
	var kib int
	_, err = fmt.Sscan(rest, &kib)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(proc+"clear_refs", []byte("5"), 0)) // see proc(5)
	return kib
}

// grown returns how much more memory a server has had than before, in KiB.
func grown(t *testing.T, n *node, before int, what string) int {
	t.Helper()
	by := peak(t, n) - before
	t.Logf("%s: %d KiB", what, by)
	return by
}
