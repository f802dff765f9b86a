package webtest_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

const (
	childCount = "WEBTEST_CHILD_CLIENTS"
	childReady = "clients are ready"
)

// TestChild is the other process: as many clients as it is told, which find
// the fake by their environment and answer each text with the same.
func TestChild(t *testing.T) {
	count, err := strconv.Atoi(os.Getenv(childCount))
	if err != nil {
		return // this process is the parent
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // the parent is gone
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	httpClient := pointed(t)
	store := sessions(t)
	fmt.Println(childReady)
	for range count {
		c := whatsmeow.NewClient(store.NewDevice(), waLog.Noop)
		c.SetPreLoginHTTPClient(httpClient)
		c.SetWebsocketHTTPClient(httpClient)
		c.SetMediaHTTPClient(httpClient)
		linked := make(chan struct{})
		c.AddEventHandler(func(event any) {
			switch event := event.(type) {
			case *events.QR:
				fmt.Println("qr " + event.Codes[0])
			case *events.PairSuccess:
				close(linked)
			case *events.Message:
				if !event.Info.IsFromMe {
					go answer(ctx, c, event)
				}
			}
		})
		require.NoError(t, c.Connect())
		defer c.Disconnect()
		select {
		case <-linked:
		case <-ctx.Done():
			return
		}
	}
	<-ctx.Done()
}

// answer says the same until it was taken: the connection may end meanwhile.
func answer(ctx context.Context, c *whatsmeow.Client, to *events.Message) {
	for id := c.GenerateMessageID(); ctx.Err() == nil; c.WaitForConnection(timeout) {
		_, err := c.SendMessage(ctx, to.Info.Chat, text(to.Message.GetConversation()), whatsmeow.SendRequestExtra{ID: id})
		if err == nil {
			return
		}
	}
}

// pointed makes of the environment's variables what a client needs.
func pointed(t *testing.T) *http.Client {
	key, err := hex.DecodeString(os.Getenv(webtest.EnvRootKey))
	require.NoError(t, err)
	webtest.Trust((*[32]byte)(key))
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM([]byte(os.Getenv(webtest.EnvCA))))
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, os.Getenv(webtest.EnvAddr))
		},
		TLSClientConfig: &tls.Config{RootCAs: pool},
	}}
}

// A process is pointed at the fake by its environment. Many sessions live at
// once, come back after an outage, and each gets its own messages; run with a
// large ROUNDS it says what a session costs the fake.
func TestManySessions(t *testing.T) {
	t.Parallel()
	fake := start(t)
	count := testkit.Rounds(12)
	ctx := t.Context() // as long as it takes
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	routines := runtime.NumGoroutine()
	_, lines := testkit.Child(t, "TestChild", childReady, append(fake.Environ(), childCount+"="+strconv.Itoa(count))...)
	owners := linkAll(ctx, t, fake, lines, count)
	require.NoError(t, fake.AwaitLive(ctx, count))
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("%d sessions: %d goroutines and %d kB each", count,
		(runtime.NumGoroutine()-routines)/count, (int(after.HeapAlloc)-int(before.HeapAlloc))/count/1024)

	ana := fake.AddPhone(nil)
	echo := func(round string) {
		var group errgroup.Group
		var answered atomic.Int32
		for i, owner := range owners {
			group.Go(func() error {
				word := round + strconv.Itoa(i)
				if _, err := ana.SendText(ctx, owner.LID(), word); err != nil {
					return err
				}
				_, err := ana.AwaitText(ctx, word)
				answered.Add(1)
				return err
			})
		}
		require.NoError(t, group.Wait())
		require.EqualValues(t, count, answered.Load())
	}
	echo("first ")
	fake.DropAll()
	echo("second ")
	for _, owner := range owners {
		require.NoError(t, owner.Devices()[0].AwaitIdle(ctx))
	}
}

// linkAll scans each QR code that the child shows with a phone of its own.
func linkAll(ctx context.Context, t *testing.T, fake *webtest.Server, lines *bufio.Scanner, count int) []*webtest.Phone {
	t.Helper()
	var owners []*webtest.Phone
	for len(owners) < count && lines.Scan() {
		qr, ok := strings.CutPrefix(lines.Text(), "qr ")
		if !ok {
			continue
		}
		owner := fake.AddPhone(nil)
		_, err := owner.Scan(ctx, qr)
		require.NoError(t, err)
		owners = append(owners, owner)
	}
	require.Len(t, owners, count)
	return owners
}
