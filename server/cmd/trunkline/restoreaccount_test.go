package main_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestRestoreOneAccount loses a server, restores a backup that is older than an account
// with a linked phone, and then, while the server runs, that account from a later backup:
// the phone connects without a new code, and everything works as before.
func TestRestoreOneAccount(t *testing.T) {
	t.Parallel()
	guide := testkit.ReadGuide(t, "../../../docs/operations.md")
	testkit.EachURL(t, func(t *testing.T, url string) {
		dir := t.TempDir()
		from := []string{"--data", filepath.Join(dir, "old"), "--secret", sharedSecret}
		to := []string{"--data", filepath.Join(dir, "new"), "--secret", sharedSecret, "--database-url", url}
		r := newWebEnv(t)
		n := r.launch(t, from...)
		r.balancer.open(n)
		signUp := `{"email":"ben@example.org","password":"correct horse","name":"Ben"}`
		r.call(t, 201, "POST", "/user/signup", signUp)
		older := filepath.Join(dir, "older.backup")
		succeeds(t, append([]string{"backup", older}, from...)...)
		r.signUp(t)
		token := r.token
		l := r.link(t)
		r.ref = l.ref
		r.register(t)
		ana := r.fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"})
		r.talk(t, l, ana)
		r.files(t, l, ana)
		file := filepath.Join(dir, "trunkline.backup")
		succeeds(t, append([]string{"backup", file}, from...)...)
		n.kill()
		r.balancer.open()
		before := r.logins()

		succeeds(t, append([]string{"restore", older}, to...)...)
		n = r.launch(t, to...)
		r.balancer.open(n)
		line := append(strings.Fields(guide.Block(t, "restore-account", "/backups/monday.trunkline", file)), to...)
		printed, _ := succeeds(t, line[1:]...)
		require.Regexp(t, `^Restored account [0-9a-f-]{36}: \d+ rows and \d+ files, as of `, printed)
		r.token = token
		r.back(t, before, time.Now())
		r.connected(t, l)
		r.talk(t, l, ana)
		r.picture(t, ana)
		r.sound(t)

		r.token = ""
		r.call(t, 200, "POST", "/user/login", `{"email":"ben@example.org","password":"correct horse"}`)
		r.call(t, 201, "POST", "/user/signup", strings.ReplaceAll(signUp, "ben@", "new@"))
		refused := func(who, secret, why string) {
			t.Helper()
			code, _, text := ran(t, "restore", file, "--account", who, "--data", to[1], "--secret", secret, "--database-url", url)
			require.Equal(t, 2, code)
			require.Contains(t, text, why)
		}
		refused("ana@example.org", sharedSecret, "--account: it exists already: the account ")
		refused("carla@example.org", sharedSecret, "--account: the backup has no such account")
		refused("ana@example.org", strings.Repeat("z", 40), "--secret: the backup was written under another secret")
		n.terminate(t)
	})
}
