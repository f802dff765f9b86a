package main_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

const (
	signing = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	sealing = "a secret of tests that is long enough"
)

// TestReadme runs the lines of the README, at another address, and orders.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, addr := testkit.ReadExample(t), testkit.FreeAddress(t)
	sh := testkit.NewShell(t)
	sh.Send(t, readme.Block(t, "start", "/webhookreceiver &", "/webhookreceiver -addr "+addr+" &", "/webhookonly\n", "/webhookonly -url http://"+addr+"/\n"))
	sh.Send(t, "2 cups\n")
	require.ElementsMatch(t, []string{"order 1 is stored", `order.created 1: {"order":1,"what":"2 cups"}`}, []string{sh.Line(t), sh.Line(t)})
}

// TestKill runs the program, kills it after a commit and while it delivers,
// and counts what arrives.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := testkit.Build(t, "./examples/webhookonly")
	bin := filepath.Join(dir, "webhookonly")
	addr := testkit.FreeAddress(t)
	args := []string{"-db", "sqlite://" + filepath.Join(dir, "orders.db"), "-url", "http://" + addr + "/orders"}

	p := start(t, bin, args...)
	p.order(t, "2 cups", "order 1 is stored")
	p.kill(t) // no receiver has listened so far

	rec := listen(t, addr)
	p = start(t, bin, args...)
	first := rec.next(t)
	require.JSONEq(t, `{"order":1,"what":"2 cups"}`, first.body)
	require.Equal(t, "1", first.sequence)

	rec.delay()
	p.order(t, "3 plates", "order 2 is stored")
	delayed := rec.next(t)
	require.JSONEq(t, `{"order":2,"what":"3 plates"}`, delayed.body)
	p.kill(t) // the answer of the receiver has not arrived yet
	rec.release()

	p = start(t, bin, args...)
	require.Equal(t, delayed, rec.next(t), "it says so again, with the same id and number")
	p.order(t, "1 jug", "order 3 is stored")
	last := rec.next(t)
	require.JSONEq(t, `{"order":3,"what":"1 jug"}`, last.body)
	require.Equal(t, "3", last.sequence)
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, p.cmd.Wait(), "it ends in order")
}

func TestSettingsAreExplained(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "run", ".", "-db", "sqlite://"+filepath.Join(t.TempDir(), "orders.db"))
	cmd.Env = append(os.Environ(), "APP_SECRET=short")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "webhookonly: webhook: Options.Secrets: a secret needs at least 32 characters")
}

// program is the example, running.
type program struct {
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func start(t *testing.T, bin string, args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.CommandContext(t.Context(), bin, args...)}
	p.cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+signing, "APP_SECRET="+sealing)
	p.cmd.Stderr = t.Output()
	in, err := p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.in, p.out = in, bufio.NewScanner(out)
	require.NoError(t, p.cmd.Start())
	return p
}

func (p *program) order(t *testing.T, what, answer string) {
	t.Helper()
	_, err := io.WriteString(p.in, what+"\n")
	require.NoError(t, err)
	require.True(t, p.out.Scan())
	require.Equal(t, answer, p.out.Text())
}

func (p *program) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Kill())
	_ = p.cmd.Wait() // it was killed
}

// delivery is a delivery as the receiver got it.
type delivery struct{ id, sequence, body string }

type receiver struct {
	got  chan delivery
	mu   sync.Mutex
	gate chan struct{} // closed: answers go out
}

// listen returns a receiver at addr that verifies what it gets.
func listen(t *testing.T, addr string) *receiver {
	t.Helper()
	rec := &receiver{got: make(chan delivery, 16), gate: make(chan struct{})}
	close(rec.gate)
	ln, err := net.Listen("tcp", addr)
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || webhook.Verify(signing, r.Header, body, time.Now()) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		rec.mu.Lock()
		gate := rec.gate
		rec.mu.Unlock()
		rec.got <- delivery{r.Header.Get("webhook-id"), r.Header.Get("Webhook-Sequence"), string(body)}
		<-gate
	})}
	go func() { _ = server.Serve(ln) }() // until it is closed
	t.Cleanup(func() { _ = server.Close() })
	return rec
}

// delay lets later requests wait until release.
func (r *receiver) delay() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gate = make(chan struct{})
}

func (r *receiver) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.gate)
}

func (r *receiver) next(t *testing.T) delivery {
	t.Helper()
	select {
	case d := <-r.got:
		return d
	case <-time.After(time.Minute):
		require.Fail(t, "nothing was delivered")
		return delivery{}
	}
}
