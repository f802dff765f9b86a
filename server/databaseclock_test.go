package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// TestQueuesUseTheClockOfTheDatabase: no text of a queue holds the time of this
// node. Nodes whose clocks differ lease alike, and the texts can be prepared.
func TestQueuesUseTheClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		delivered := make(chan struct{}, 10)
		srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { delivered <- struct{}{} }))
		t.Cleanup(srv.Close)
		seen, asked := testkit.Counting(t, db)
		f := working(t, setupOn(t, seen, func(c *server.Config) { c.WebhookAllow = []string{"127.0.0.1"} }))
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q,"events":["message"]}`, ref, srv.URL)).json(201)
		ana.write(t, ref, "bob", "Hello")
		<-delivered
		require.Positive(t, asked.Of("queue_"))
		clock := strconv.FormatInt(time.Now().UnixMicro(), 10)[:5]
		require.Zero(t, asked.Of(clock), "statements that begin with microseconds of today: %s…", clock)
	})
}
