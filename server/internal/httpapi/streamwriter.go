package httpapi

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// StreamWriter writes at once. A reader who does not take it in time has left: see
// middleware.Response.
type StreamWriter struct{ Context huma.Context }

func (u StreamWriter) Write(b []byte) (int, error) {
	w := u.Context.BodyWriter()
	n, err := w.Write(b)
	if rw, ok := w.(http.ResponseWriter); ok && err == nil {
		err = http.NewResponseController(rw).Flush()
	}
	return n, err
}
