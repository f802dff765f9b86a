package middleware

import (
	"io"
	"net/http"
	"time"
)

// A body may take BodyGrace, and further a second for each bodyRate bytes of
// it. Who is slower holds a connection for nothing.
const (
	BodyGrace = 5 * time.Second
	bodyRate  = 64 << 10
)

// Paced gives a body a deadline that moves on as it arrives. Reading past it
// fails with a timeout.
func Paced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		b := &pacedBody{ReadCloser: r.Body, conn: http.NewResponseController(w), start: time.Now()}
		b.extend() // also for a body that no handler reads
		r.Body = b
		next.ServeHTTP(w, r)
	})
}

type pacedBody struct {
	io.ReadCloser
	conn  *http.ResponseController
	start time.Time
	n     int64
	ended bool
}

func (b *pacedBody) Read(p []byte) (int, error) {
	if b.ended { // another deadline could end the request
		return 0, io.EOF
	}
	b.extend()
	n, err := b.ReadCloser.Read(p)
	b.n += int64(n)
	if err == io.EOF {
		// The handler may take longer than its body did, and net/http would
		// take a deadline that passes meanwhile for a client that has gone.
		_ = b.conn.SetReadDeadline(time.Time{})
		b.ended = true
	}
	return n, err
}

// extend moves the deadline; without a connection (tests) there is none.
func (b *pacedBody) extend() {
	_ = b.conn.SetReadDeadline(b.start.Add(BodyGrace + time.Duration(b.n)*time.Second/bodyRate))
}
