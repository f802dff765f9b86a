// Command webhookreceiver takes Trunkline's webhooks: it verifies who signed
// them, drops repetitions, and prints the rest.
package main

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/webhook"
)

// receiver remembers what it has seen by webhook-id. A real one remembers in
// the transaction that does its work.
type receiver struct {
	secret string
	seen   sync.Map
}

func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err == nil {
		err = webhook.Verify(rc.secret, r.Header, body, time.Now())
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if _, repeated := rc.seen.LoadOrStore(r.Header.Get("webhook-id"), true); !repeated {
		fmt.Printf("%s %s: %s\n", r.Header.Get("X-Trunkline-Event"), r.Header.Get("X-Trunkline-Sequence"), body)
	}
	w.WriteHeader(http.StatusNoContent)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:4000", "listening address")
	flag.Parse()
	rc := &receiver{secret: os.Getenv("WEBHOOK_SECRET")}
	if rc.secret == "" {
		fmt.Fprintln(os.Stderr, "webhookreceiver: set WEBHOOK_SECRET to the secret of the webhook, whsec_…")
		os.Exit(2)
	}
	server := &http.Server{Addr: *addr, Handler: rc, ReadHeaderTimeout: 10 * time.Second}
	slog.Error("the receiver ended", slog.Any("error", server.ListenAndServe()))
	os.Exit(1)
}
