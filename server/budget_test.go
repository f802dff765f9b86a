package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

const (
	perSecond = 80 // messages that a number may send
	pairBurst = 45 // messages to one contact at once
	inHand    = 16 // messages of one reference that a node hands over at once

	pairEvery = 6 * time.Second // pays for one message to one contact
	more      = 20              // messages that two minutes pay for: others wait, however slow the machine is
)

// number is the i-th of many contacts.
func number(i int) string { return fmt.Sprintf("1650556%04d", i) }

// greet makes contacts write, so that their windows are open.
func greet(t *testing.T, g *graphtest.Server, contacts ...string) {
	t.Helper()
	for _, c := range contacts {
		_, err := g.Write(t.Context(), graphtest.Inbound{From: c, Text: "Hello"})
		require.NoError(t, err)
	}
}

// queue sends a text without waiting for it.
func (c client) queue(t *testing.T, ref int, to, text string) {
	t.Helper()
	c.call(t, "POST", "/chats/send?wait=0", sendBody(ref, to, fmt.Sprintf(`{"type":"text","text":%q}`, text))).json(200)
}

// sentAt is when the network got each message, in order.
func sentAt(g *graphtest.Server) []time.Time {
	var out []time.Time
	for _, r := range g.Requests() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/messages") && strings.Contains(string(r.Body), `"to"`) {
			out = append(out, r.At)
		}
	}
	return out
}

// TestNumberBudget sends to many contacts as fast as it goes: all are sent, at
// the rate of the number. (Package messaging compares when they leave and when
// they arrive; here a machine that stands still may let those in hand arrive
// together.)
func TestNumberBudget(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		const n = 2*perSecond + 40
		for i := range n {
			greet(t, g, number(i))
		}
		start := time.Now()
		for i := range n {
			ana.queue(t, ref, number(i), "Hi")
		}
		_, err := g.WaitShown(t.Context(), "", n)
		require.NoError(t, err)
		at := sentAt(g)
		require.Len(t, at, n, "none failed, and none was tried twice")
		require.GreaterOrEqual(t, at[n-1].Sub(start), (n-1)/perSecond*time.Second)
		limit := 0
		for i := range at {
			j := i
			for j < n && at[j].Sub(at[i]) < time.Second {
				j++
			}
			limit = max(limit, j-i)
		}
		require.LessOrEqual(t, limit, perSecond+inHand)
		t.Logf("at most %d in a second, %d in %s", limit, n, at[n-1].Sub(start).Round(time.Millisecond))
	})
}

// TestPairBudget sends more to one contact than his burst: the rest waits,
// while another contact gets his.
func TestPairBudget(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		other := number(1)
		greet(t, g, contact, other)
		start := time.Now()
		for i := range pairBurst + more {
			ana.queue(t, ref, contact, fmt.Sprint(i))
		}
		_, err := g.WaitShown(t.Context(), contact, pairBurst)
		require.NoError(t, err)
		next := sendBody(ref, contact, `{"type":"text","text":"x"}`)
		ana.call(t, "POST", "/chats/send?dryRun=1", next).
			is(200, `{"allowed":true,"reason":null,"sentAs":"text","earliest":"<later>","windowExpiresAt":"<later>"}`)
		ana.call(t, "POST", "/chats/send", sendBody(ref, other, `{"type":"text","text":"Hi"}`)).json(200)
		require.Len(t, g.Shown(other), 1, "others flow")
		require.Equal(t, "PENDING", ana.last(t, ref)["status"], "it waits, and has not failed")
		shown, err := g.WaitShown(t.Context(), contact, pairBurst+1)
		require.NoError(t, err)
		require.GreaterOrEqual(t, shown[pairBurst].At.Sub(start), pairEvery)
		require.Equal(t, fmt.Sprint(pairBurst), shown[pairBurst].Text, "in order")
	})
}

// TestBudgetAfterRestart has a new process on the same database: what the one
// before sent counts.
func TestBudgetAfterRestart(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var f fixture
		l := cloudNumber("900")
		g := startGraph(t, &graphOptions{
			Numbers: []graphtest.Number{l}, Callback: "http://trunkline.test/webhooks/provider",
			HTTPClient: into(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.ServeHTTP(w, r) })),
		})
		begin := func() (stop func()) {
			f = setupOn(t, db, func(c *server.Config) { c.GraphURL = g.URL })
			ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
			done := make(chan error, 1)
			go func() { done <- f.Run(ctx) }()
			return func() {
				cancel()
				require.NoError(t, <-done)
			}
		}
		stop := begin()
		ana := f.as(t, "ana")
		ref := ana.reference(t, reference(l))
		greet(t, g, contact)
		start := time.Now()
		for i := range pairBurst {
			ana.queue(t, ref, contact, fmt.Sprint(i))
		}
		_, err := g.WaitShown(t.Context(), contact, pairBurst)
		require.NoError(t, err)
		stop()

		stop = begin()
		defer stop()
		again := client{f, ana.token}
		for i := range pairBurst {
			again.queue(t, ref, contact, fmt.Sprint(i))
		}
		dry := again.call(t, "POST", "/chats/send?dryRun=1", sendBody(ref, contact, `{"type":"text","text":"x"}`)).
			is(200, `{"allowed":true,"reason":null,"sentAs":"text","earliest":"<later>","windowExpiresAt":"<later>"}`)
		earliest := time.Unix(int64(dry["earliest"].(float64)), 0)
		require.GreaterOrEqual(t, earliest.Sub(start), pairBurst*pairEvery, "the first burst is paid for before")
		other := number(1)
		greet(t, g, other)
		again.call(t, "POST", "/chats/send", sendBody(ref, other, `{"type":"text","text":"Hi"}`)).json(200)
		shown := len(g.Shown(contact))
		require.LessOrEqual(t, shown, pairBurst+1+int(time.Since(start)/pairEvery), "and nothing goes that is not")
	})
}
