package contract

import (
	"bytes"
	"io"
	"net/http"
)

// limit is the number of bytes of a body that are checked.
const limit = 4 << 20

// Serve lets a handler answer a request, and reports the exchange. It does not
// report methods that the document does not have, such as HEAD.
func (d *Document) Serve(w http.ResponseWriter, r *http.Request, h http.Handler, report func(Exchange)) {
	path, op := d.find(r)
	if op == nil {
		h.ServeHTTP(w, r)
		return
	}
	asked := &stored{}
	in := *r
	if r.Body != nil && r.Body != http.NoBody {
		in.Body = body{r.Body, asked}
	}
	out := &answer{ResponseWriter: w, status: http.StatusOK}
	finished := false
	defer func() {
		report(Exchange{
			Operation: op.ID, Method: r.Method, Path: path, URL: r.URL, RequestType: r.Header.Get("Content-Type"), Request: asked.Bytes(),
			Status: out.status, Header: w.Header().Clone(), Response: out.stored.Bytes(), Cut: out.stored.cut || !finished,
		})
	}()
	h.ServeHTTP(out, &in)
	finished = true
}

// stored keeps the beginning of what is written to it.
type stored struct {
	bytes.Buffer
	cut bool
}

func (k *stored) Write(p []byte) (int, error) {
	room := limit - k.Len()
	if room < len(p) {
		k.cut = true
	}
	_, _ = k.Buffer.Write(p[:min(room, len(p))])
	return len(p), nil
}

// body is the body of a request that records what is read.
type body struct {
	io.ReadCloser
	stored *stored
}

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	_, _ = b.stored.Write(p[:n])
	return n, err
}

// answer is a response that records what is written.
type answer struct {
	http.ResponseWriter
	stored   stored
	status   int
	reported bool
}

// Unwrap returns the writer for [http.ResponseController].
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Flush sends what was written.
func (a *answer) Flush() { _ = http.NewResponseController(a.ResponseWriter).Flush() }

func (a *answer) WriteHeader(status int) {
	if !a.reported && status >= http.StatusOK {
		a.status, a.reported = status, true
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	a.reported = true
	_, _ = a.stored.Write(p)
	return a.ResponseWriter.Write(p)
}
