package main_test

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
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

const (
	bareDatabase = "TRUNKLINE_BARE_DATABASE"
	bareNew      = "TRUNKLINE_BARE_NEW"
	bareReady    = "bare clients are ready"
)

// TestBareClients is the floor of benchmarks: a process with clients of whatsmeow
// alone, which acknowledge after one committed insert, as the server does. It
// connects the devices of its database, and a number of new ones.
func TestBareClients(t *testing.T) {
	url := os.Getenv(bareDatabase)
	if url == "" {
		return // this process is the parent
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // the parent is gone
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	db := testkit.Open(t, url)
	db.MustExec(`CREATE TABLE IF NOT EXISTS bare_message (id TEXT PRIMARY KEY, body TEXT NOT NULL)`)
	container := sqlstore.NewWithDB(db.DB, "sqlite3", waLog.Noop)
	require.NoError(t, container.Upgrade(ctx))
	devices, err := container.GetAllDevices(ctx)
	require.NoError(t, err)
	b := &bare{db: db, http: pointed(t)}
	fmt.Println(bareReady)
	var all errgroup.Group // as ours do: what that leaves in memory is part of the comparison
	for _, d := range devices {
		all.Go(func() error { return b.connect(ctx, d) })
	}
	require.NoError(t, all.Wait())
	more, err := strconv.Atoi(os.Getenv(bareNew))
	require.NoError(t, err)
	for range more {
		require.NoError(t, b.connect(ctx, container.NewDevice()))
	}
	<-ctx.Done()
}

// bare makes clients.
type bare struct {
	db   *sqlx.DB
	http *http.Client
}

// connect connects a device, and waits until it is linked.
func (b *bare) connect(ctx context.Context, d *store.Device) error {
	c := whatsmeow.NewClient(d, waLog.Noop)
	c.SetPreLoginHTTPClient(b.http)
	c.SetWebsocketHTTPClient(b.http)
	c.SetMediaHTTPClient(b.http)
	c.SynchronousAck, c.EnableDecryptedEventBuffer, c.UseRetryMessageStore = true, true, true
	linked := make(chan struct{})
	c.AddEventHandlerWithSuccessStatus(func(event any) bool {
		switch event := event.(type) {
		case *events.QR:
			fmt.Println("qr " + event.Codes[0])
		case *events.PairSuccess:
			close(linked)
		case *events.Message:
			_, err := b.db.ExecContext(ctx, `INSERT INTO bare_message (id, body) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
				event.Info.ID, event.Message.String())
			return err == nil
		}
		return true
	})
	paired := d.ID != nil
	if err := c.Connect(); err != nil || paired {
		return err
	}
	select {
	case <-linked:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pointed makes of the environment's variables what a client needs.
func pointed(t *testing.T) *http.Client {
	t.Helper()
	key, err := hex.DecodeString(os.Getenv(webtest.EnvRootKey))
	require.NoError(t, err)
	webtest.Trust((*[32]byte)(key))
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM([]byte(os.Getenv(webtest.EnvCA))))
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, os.Getenv(webtest.EnvAddr))
		},
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
	}}
}

// launchBare starts the floor's process.
func launchBare(b *testing.B, fake *webtest.Server, url string, more int) (*exec.Cmd, *bufio.Scanner) {
	b.Helper()
	return testkit.Child(b, "TestBareClients", bareReady, append(fake.Environ(), bareDatabase+"="+url, bareNew+"="+strconv.Itoa(more))...)
}

// linkBare scans each code that the floor's process shows.
func linkBare(b *testing.B, fake *webtest.Server, refs *bufio.Scanner, more int) []*webtest.Device {
	b.Helper()
	var devices []*webtest.Device
	for len(devices) < more && refs.Scan() {
		code, ok := strings.CutPrefix(refs.Text(), "qr ")
		if !ok {
			continue
		}
		d, err := fake.AddPhone(nil).Scan(within(b), code)
		require.NoError(b, err)
		require.NoError(b, d.AwaitActive(within(b)))
		devices = append(devices, d)
	}
	require.Len(b, devices, more)
	return devices
}
