//go:build unix

package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// childSetting is how a child, this test binary run as a process of its own,
// takes turns.
type childSetting struct {
	URL   string
	World string // base URL of what its flow calls
}

const (
	childEnv    = "RUNTIME_CHILD"
	runningLine = "running"
)

// TestChild takes turns. It is the whole of a child process, and nothing in
// any other.
func TestChild(t *testing.T) {
	text := os.Getenv(childEnv)
	if text == "" {
		return
	}
	var s childSetting
	require.NoError(t, json.Unmarshal([]byte(text), &s))
	db := testkit.Open(t, s.URL)
	f := setup(t, db, func(o *runtime.Options) {
		o.Now, o.Exclusive = time.Now, db.DriverName() == "sqlite"
		o.Logger = slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelError}))
	})
	f.shelf.add(t, "talk", talk(t, s.World))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends with the parent, however that ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	_, _ = fmt.Println(runningLine)
	require.NoError(t, f.Run(ctx))
}

// talk is a flow that asks again and again, and makes a call that may be
// repeated and one that must not be for each answer.
func talk(t testing.TB, env string) runtime.Source {
	t.Helper()
	return nodes(t, `"name":{"type":"string"},"r":{"type":"object"}`, `
		"first":{"type":"question","config":{"prompt":{"text":"Who after {{ input.text }}?"},"saveTo":"name"},"next":{"out":"look"}},
		"look":{"type":"http","config":{"url":"`+env+`/{{ vars.name }}","timeout":"PT60S","retry":{"max":5},"saveTo":"r"},"next":{"out":"found"}},
		"found":{"type":"message","config":{"text":"Found {{ vars.r.body.path }}"},"next":{"out":"order"}},
		"order":{"type":"http","config":{"method":"POST","url":"`+env+`/orders","timeout":"PT60S","saveTo":"r"},"next":{"out":"ordered","error":"lost"}},
		"ordered":{"type":"message","config":{"text":"Ordered {{ vars.name }}"},"next":{"out":"first"}},
		"lost":{"type":"message","config":{"text":"{{ error.code }} {{ vars.name }}"},"next":{"out":"first"}}`)
}

// answers are what follows from the n-th message of a contact.
func answers(n int) []string {
	next := fmt.Sprintf("Who after m%d?", n)
	if n == 0 {
		return []string{next}
	}
	return []string{fmt.Sprintf("Found /m%d", n), fmt.Sprintf("Ordered m%d", n), next}
}

// TestKill kills the processes that take turns again and again, in the middle
// of many conversations: each continues where it was.
func TestKill(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		const chats = 12
		kills := testkit.Rounds(3)
		messages := 4 + kills
		w := newWorld(t, 30*time.Millisecond)
		f := setup(t, testkit.Open(t, url), func(o *runtime.Options) { o.Now = time.Now })
		defer func() {
			var broken []string
			require.NoError(t, f.raw.SelectContext(t.Context(), &broken, `SELECT error FROM flow_run WHERE error <> ''`))
			require.Empty(t, broken)
		}()
		processes := 2
		if f.raw.DriverName() == "sqlite" {
			processes = 1
		}
		var children []*exec.Cmd
		spawn := func() *exec.Cmd {
			text, err := json.Marshal(childSetting{url, w.URL})
			require.NoError(t, err)
			c, _ := testkit.Child(t, "TestChild", runningLine, childEnv+"="+string(text))
			return c
		}
		for range processes {
			children = append(children, spawn())
		}
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			for n := range messages {
				for c := range chats {
					if err := f.IncomingTx(t.Context(), tx, incoming(fmt.Sprint("c", c), fmt.Sprint("m", n))); err != nil {
						return err
					}
				}
			}
			return nil
		}))
		want := 0
		for n := range messages {
			want += chats * len(answers(n))
		}
		done := func() (n int) {
			require.NoError(t, f.raw.GetContext(t.Context(), &n, `SELECT count(*) FROM test_did`))
			return n
		}
		for i := range kills {
			started := done()
			eventually(t, func() bool { return done() >= min(want, started+rand.IntN(2+want/(kills+1))) })
			c := children[i%len(children)]
			require.NoError(t, c.Process.Kill())
			_ = c.Wait()
			children[i%len(children)] = spawn()
		}
		eventually(t, func() bool { return done() >= want })
		unknown := 0
		for c := range chats {
			var all []string
			for n := range messages {
				all = append(all, answers(n)...)
			}
			got := f.did(t, fmt.Sprint("c", c))
			for i := range got {
				if name, is := strings.CutPrefix(got[i], "effect.unknown "); is {
					got[i] = "Ordered " + name
					unknown++
				}
				if name, is := strings.CutPrefix(got[i], "http.connect "); is { // the machine was too busy to connect
					got[i] = "Ordered " + name
				}
			}
			require.Equal(t, strings.Join(all, ", "), strings.Join(got, ", "))
		}
		f.once(t)
		w.mu.Lock()
		defer w.mu.Unlock()
		for key, n := range w.once {
			require.Equal(t, 1, n, "a call that must not be made twice was: %s", key)
		}
		t.Logf("promise: %s, killed %d times: %d messages of %d conversations, all answered in order, nothing said twice; "+
			"%d calls that must not be repeated: none was, %d ended with effect.unknown", t.Name(), kills, chats*messages, chats, len(w.once), unknown)
	})
}
