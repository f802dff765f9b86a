package httpapi

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// streamTimeout is how long a client may take to read what was written.
const streamTimeout = 20 * time.Second

// StreamWriter writes at once, to a reader who may be slow. One who does not take
// it in time has left.
type StreamWriter struct{ Context huma.Context }

func (u StreamWriter) Write(b []byte) (int, error) {
	w := u.Context.BodyWriter()
	rw, ok := w.(http.ResponseWriter)
	if !ok {
		return w.Write(b)
	}
	conn := http.NewResponseController(rw)
	_ = conn.SetWriteDeadline(time.Now().Add(streamTimeout)) // recorders of tests have none
	n, err := rw.Write(b)
	if err == nil {
		err = conn.Flush()
	}
	if err == nil {
		_ = conn.SetWriteDeadline(time.Time{}) // the rest is written later
	}
	return n, err
}
