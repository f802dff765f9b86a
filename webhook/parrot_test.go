package webhook_test

import (
	"bufio"
	"net"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/webhook"
)

// TestParrot has a receiver that speaks no HTTP and says what it was told: a
// token of the URL is not in the log then.
func TestParrot(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var lc net.ListenConfig
		l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for n := 0; ; n++ {
				c, err := l.Accept()
				if err != nil {
					return
				}
				ref, _ := bufio.NewReader(c).ReadString('\n')
				if n > 0 {
					ref = "HTTP/1.1 200 OK\r\n" + ref + "\r\n"
				}
				_, _ = c.Write([]byte(ref))
				_ = c.Close()
			}
		}()
		f := setup(t, db, webhook.Options{})
		ep := f.put(t, "http://"+l.Addr().String()+"/in?token=hunter2")
		for range 2 {
			a, err := f.Test(t.Context(), ep.ID, webhook.Event{Type: "message", Body: []byte(`{}`)})
			require.NoError(t, err)
			require.Equal(t, "the answer is no HTTP", a.Error)
		}
	})
}
