package server_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestErasedBytes erases a chat and then an account, and looks for what was
// said in the bytes of the database and of its log.
func TestErasedBytes(t *testing.T) {
	t.Parallel()
	url := testkit.SQLiteURL(t)
	path, _, _ := strings.Cut(strings.TrimPrefix(url, "sqlite://"), "?")
	f := working(t, setupOn(t, testkit.Open(t, url), nil))
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	holds := func(text string) bool {
		for _, suffix := range []string{"", "-wal"} {
			b, err := os.ReadFile(filepath.Clean(path + suffix))
			require.NoError(t, err)
			if bytes.Contains(b, []byte(text)) {
				return true
			}
		}
		return false
	}
	say := func(who, text string) {
		ana.call(t, "POST", fmt.Sprintf("/sandbox/%d/messages", ref), fmt.Sprintf(`{"from":%q,"type":"text","text":%q}`, who, text)).json(201)
		ana.call(t, "POST", "/chats/send", sendBody(ref, who, fmt.Sprintf(`{"type":"text","text":%q}`, text+" to you"))).json(200)
	}
	long := strings.Repeat("and on ", 500)
	for i := range 5 {
		say("bob", fmt.Sprintf("canary-of-bob-%d %s", i, long[:i*700]))
		say("eve", fmt.Sprintf("canary-of-eve-%d %s", i, long[:i*700]))
	}
	require.True(t, holds("canary-of-bob-"))
	ana.call(t, "DELETE", fmt.Sprintf("/chats?reference=%d&chatId=bob@sandbox", ref), "").json(202)
	ana.until(t, func() bool { return !holds("canary-of-bob-") })
	require.True(t, holds("canary-of-eve-"))
	ana.call(t, "DELETE", "/account", `{"password":"correct horse"}`).json(202)
	ana.until(t, func() bool { return !holds("canary-of-eve-") })
}
