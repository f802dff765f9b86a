package main_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
	"github.com/trunklinehq/trunkline/server/backup"
)

// ran runs a command that ends by itself.
func ran(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary(t, "trunkline"), args...)
	var out, errs strings.Builder
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		code = exit.ExitCode()
	}
	return code, out.String(), errs.String()
}

// succeeds runs a command, which must end with 0.
func succeeds(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, out, errs := ran(t, args...)
	require.Zero(t, code, "%s%s", out, errs)
	return out, errs
}

// manifest says what is in a backup.
func manifest(t *testing.T, name string) backup.Manifest {
	t.Helper()
	a, err := backup.Open(name)
	require.NoError(t, err)
	defer a.Close() //nolint:errcheck // it was only read
	return a.Manifest
}

// TestBackupUnderLoad makes a backup while phones write to a line and get answers,
// loses the server, and restores the backup into the other kind of database on
// another machine: every row is the same, files and links work, and the line
// connects again without a new code.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to func(t *testing.T) []string }{
		"sqlite to postgres": {func(t *testing.T) []string { return []string{"--data", t.TempDir()} }, func(t *testing.T) []string {
			return []string{"--data", filepath.Join(t.TempDir(), "new"), "--database-url", testkit.PostgresURL(t)}
		}},
		"postgres to sqlite": {func(t *testing.T) []string {
			return []string{"--data", t.TempDir(), "--database-url", testkit.PostgresURL(t), "--secret", sharedSecret}
		}, func(t *testing.T) []string {
			return []string{"--data", filepath.Join(t.TempDir(), "new"), "--secret", sharedSecret}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to, file := c.from(t), c.to(t), filepath.Join(t.TempDir(), "trunkline.backup")
			r := newWebEnv(t)
			n := r.launch(t, from...)
			r.balancer.open(n)
			r.signUp(t)
			l := r.link(t)
			r.ref = l.ref
			r.register(t)
			ana := r.fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"})
			r.talk(t, l, ana)
			r.files(t, l, ana)

			written := r.load(t, l, func() { succeeds(t, append([]string{"backup", file, "--with-secret"}, from...)...) })
			require.Positive(t, written, "phones wrote while it was taken")
			info, err := os.Stat(file)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
			n.kill()
			r.balancer.open()
			before := r.logins()

			printed, _ := succeeds(t, append([]string{"restore", file}, to...)...)
			require.Contains(t, printed, "Restored ")
			require.NotContains(t, printed, "Give the server the secret")
			again := filepath.Join(t.TempDir(), "again.backup")
			succeeds(t, append([]string{"backup", again}, to...)...)
			require.Equal(t, manifest(t, file).Tables, manifest(t, again).Tables, "the digests of all rows")
			require.Equal(t, manifest(t, file).Files, manifest(t, again).Files)

			n = r.launch(t, to...)
			r.balancer.open(n)
			r.back(t, before, time.Now())
			r.connected(t, l)
			r.talk(t, l, ana)
			r.picture(t, ana)
			r.sound(t)
			code, _, why := ran(t, append([]string{"restore", file}, to...)...)
			require.Equal(t, 2, code)
			require.Contains(t, why, "in use by another trunkline")
			n.terminate(t)
			code, _, why = ran(t, append([]string{"restore", file}, to...)...)
			require.Equal(t, 2, code)
			require.Contains(t, why, "the database is not empty")
		})
	}
}

// loadPause is between two rounds of what phones write meanwhile.
const loadPause = 50 * time.Millisecond

// load lets phones write while fn runs, and says how often they did.
func (r *webEnv) load(t *testing.T, l *webReference, fn func()) int64 {
	t.Helper()
	w := r.writers(webContacts)
	require.NoError(t, w.write(within(t), l, 1))
	ctx, stop := context.WithCancel(within(t))
	var g errgroup.Group
	var wrote atomic.Int64
	g.Go(func() error {
		for ctx.Err() == nil {
			if err := w.write(within(t), l, 1); err != nil {
				return err
			}
			wrote.Add(webContacts)
			<-time.After(loadPause) // a slow backup shall leave no flood behind, which is another test
		}
		return nil
	})
	fn()
	stop()
	require.NoError(t, g.Wait())
	return wrote.Load()
}

// picture fails the test unless the picture of a contact is still there.
func (r *webEnv) picture(t *testing.T, from *webtest.Phone) {
	t.Helper()
	page := r.call(t, 200, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s", r.ref, number(from)), "")
	for _, item := range page["items"].([]any) {
		if link, ok := item.(map[string]any)["fileUrl"].(string); ok && link != "" {
			require.NotEmpty(t, r.download(t, strings.TrimPrefix(link, balancerURL+"/")))
			return
		}
	}
	require.Fail(t, "there is no picture", "%v", page)
}
