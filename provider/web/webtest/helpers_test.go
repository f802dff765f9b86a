package webtest_test

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// timeout is how long a test waits for what must come.
const timeout = 2 * time.Minute

// start returns a fake that has understood everything when the test ends.
func start(t *testing.T) *webtest.Server {
	fake := webtest.Start(nil)
	t.Cleanup(func() {
		require.Empty(t, fake.Unknown())
		require.Empty(t, fake.Conflicts())
		fake.Close()
	})
	return fake
}

// within bounds what a test waits for.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	return ctx
}

// short is for what a test expects not to come.
func short(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// sessions opens a store for whatsmeow's sessions, as our own database is.
func sessions(t *testing.T) *sqlstore.Container {
	t.Helper()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	container := sqlstore.NewWithDB(db.DB, "sqlite3", waLog.Noop)
	require.NoError(t, container.Upgrade(t.Context()))
	return container
}

// client is an unmodified whatsmeow client that keeps what happened to it.
type client struct {
	*whatsmeow.Client
	t *testing.T

	mu      sync.Mutex
	events  []any
	more    chan struct{}
	refuses bool // of messages: the handler fails
}

func newClient(t *testing.T, fake *webtest.Server, device *store.Device) *client {
	t.Helper()
	log := waLog.Noop
	if os.Getenv("TRACE") != "" {
		log = waLog.Stdout(t.Name(), "DEBUG", false)
	}
	c := &client{Client: whatsmeow.NewClient(device, log), t: t, more: make(chan struct{})}
	c.SynchronousAck, c.EnableDecryptedEventBuffer = true, true
	fake.Attach(c.Client)
	c.AddEventHandlerWithSuccessStatus(c.keep)
	t.Cleanup(c.Disconnect)
	return c
}

func (c *client) keep(event any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := event.(*events.Message); ok && c.refuses {
		return false
	}
	c.events = append(c.events, event)
	close(c.more)
	c.more = make(chan struct{})
	return true
}

func (c *client) refuse(refuses bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuses = refuses
}

// await takes the first event of its type that match accepts; nil accepts any.
func await[T any](c *client, match func(T) bool) T {
	c.t.Helper()
	over := time.NewTimer(timeout)
	defer over.Stop()
	for {
		c.mu.Lock()
		at := slices.IndexFunc(c.events, func(event any) bool {
			wanted, ok := event.(T)
			return ok && (match == nil || match(wanted))
		})
		if at >= 0 {
			found := c.events[at].(T)
			c.events = slices.Delete(c.events, at, at+1)
			c.mu.Unlock()
			return found
		}
		more, seen := c.more, fmt.Sprint(kinds(c.events))
		c.mu.Unlock()
		select {
		case <-more:
		case <-over.C:
			require.FailNowf(c.t, "no event", "%v did not come; there are %s", reflect.TypeFor[T](), seen)
		}
	}
}

func kinds(list []any) []string {
	var names []string
	for _, event := range list {
		names = append(names, reflect.TypeOf(event).String())
	}
	return names
}

// link pairs a new client with the phone, and waits until it is logged in.
func link(t *testing.T, fake *webtest.Server, phone *webtest.Phone) (*client, *webtest.Device) {
	t.Helper()
	c := newClient(t, fake, sessions(t).NewDevice())
	return c, pair(t, c, phone)
}

func pair(t *testing.T, c *client, phone *webtest.Phone) *webtest.Device {
	t.Helper()
	require.NoError(t, c.Connect())
	qr := await[*events.QR](c, nil)
	device, err := phone.Scan(within(t), qr.Codes[0])
	require.NoError(t, err)
	await[*events.PairSuccess](c, nil)
	await[*events.Connected](c, nil)
	require.NoError(t, device.AwaitActive(within(t)))
	return device
}

func says(text string) func(*events.Message) bool {
	return func(m *events.Message) bool { return m.Message.GetConversation() == text }
}

func receipt(id string, kind types.ReceiptType) func(*events.Receipt) bool {
	return func(r *events.Receipt) bool { return r.Type == kind && slices.Contains(r.MessageIDs, id) }
}
