package server_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit/contract"
	"github.com/trunklinehq/trunkline/server"
)

// promised is the document that every answer of these tests is held to. It is
// read once, of the first server.
var promised struct {
	once sync.Once
	doc  *contract.Document
	err  error
}

// promises has all that a server answers in a test held to the document.
func promises(t *testing.T, s *server.Server) *contract.Breaches {
	t.Helper()
	promised.once.Do(func() {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/swagger/openapi.json", nil))
		promised.doc, promised.err = contract.Read(w.Body.Bytes())
	})
	require.NoError(t, promised.err)
	b := &contract.Breaches{}
	t.Cleanup(func() { require.NoError(t, b.Err()) })
	return b
}

// ServeHTTP answers as the server does, and holds the answer to the document.
func (f fixture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.breaches == nil {
		f.Server.ServeHTTP(w, r)
		return
	}
	promised.doc.Serve(w, r, f.Server, func(e contract.Exchange) {
		f.breaches.Add(e, promised.doc.Check(e))
		if f.answers == nil { // else it is full of secrets
			recorded.keep(e)
		}
	})
}
