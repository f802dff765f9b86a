package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestReadme runs the lines of the README, at another address, and is the
// gateway by hand.
func TestReadme(t *testing.T) {
	t.Parallel()
	began := time.Now()
	testkit.Program(t, "nc")
	readme, addr := testkit.ReadExample(t), testkit.FreeAddress(t)
	host, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	sh := testkit.NewShell(t)
	sh.Run(t, readme.Block(t, "start", "/ownprovider &", "/ownprovider -gateway "+addr+" >writes &"))
	sh.Send(t, readme.Block(t, "gateway", "127.0.0.1 4001", host+" "+port))
	_, typed, _ := strings.Cut(readme.Block(t, "gateway"), "then type ")
	sh.Send(t, typed)
	both := sh.Line(t) + "\n" + sh.Line(t) // the answer may be quicker
	require.Contains(t, both, `{"ack":"1"}`)
	require.Contains(t, both, `"to":"ana","text":"Hello ana"`)
	t.Logf("promise: %s: from the first line to an answered message of an own network in %.1f s", t.Name(), time.Since(began).Seconds())
}

// TestProgram is the gateway that the program connects to. A message that comes
// twice is answered once, and an answer comes again until it is acknowledged.
func TestProgram(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	database := "sqlite://" + filepath.Join(t.TempDir(), "chats.db")
	go func() { done <- run(ctx, database, l.Addr().String(), io.Discard) }()

	conn, in := accept(t, l)
	say(t, conn, `{"id":"1","from":"ana","text":"Hello"}`)
	say(t, conn, `{"id":"1","from":"ana","text":"Hello"}`)
	var acks int
	var answer map[string]string
	for answer == nil || acks < 2 {
		switch f := next(t, in); {
		case f["ack"] == "1":
			acks++
		default:
			require.Nil(t, answer)
			answer = f
		}
	}
	require.Equal(t, "ana", answer["to"])
	require.Equal(t, "Hello ana", answer["text"])
	require.NoError(t, conn.Close()) // without an acknowledgement

	conn, in = accept(t, l)
	require.Equal(t, answer, next(t, in), "with the same id")
	say(t, conn, `{"ack":"`+answer["id"]+`"}`)
	say(t, conn, `{"id":"2","from":"ben","text":"Hi"}`)
	both := []map[string]string{next(t, in), next(t, in)} // the answer may be quicker
	require.Contains(t, both, map[string]string{"ack": "2"})
	require.ElementsMatch(t, []string{"", "Hello ben"}, []string{both[0]["text"], both[1]["text"]})
	stop()
	require.NoError(t, conn.Close())
	require.NoError(t, <-done)

	ctx, stop = context.WithCancel(t.Context())
	go func() { done <- run(ctx, database, l.Addr().String(), io.Discard) }()
	conn, in = accept(t, l)
	say(t, conn, `{"id":"3","from":"ben","text":"Hi again"}`)
	for next(t, in)["text"] != "Hello ben" {
	}
	stop()
	require.NoError(t, <-done)
}

func accept(t *testing.T, l net.Listener) (net.Conn, *json.Decoder) {
	t.Helper()
	conn, err := l.Accept()
	require.NoError(t, err)
	return conn, json.NewDecoder(conn)
}

func say(t *testing.T, conn net.Conn, line string) {
	t.Helper()
	_, err := io.WriteString(conn, line+"\n")
	require.NoError(t, err)
}

func next(t *testing.T, in *json.Decoder) (f map[string]string) {
	t.Helper()
	require.NoError(t, in.Decode(&f))
	return f
}
