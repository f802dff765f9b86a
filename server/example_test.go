package server_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/sqldb"
)

// A server is an http.Handler. [server.Server.Serve] also runs its workers;
// who serves it otherwise calls [server.Server.Run].
func Example() {
	dir, err := os.MkdirTemp("", "trunkline")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()

	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "trunkline.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	s, err := server.New(ctx, server.Config{DB: db, Secrets: []server.Secret{"at least 32 characters, kept secret"}, Version: "1.0.0"})
	if err != nil {
		log.Fatal(err)
	}

	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/reference/list", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 401 application/problem+json
}
