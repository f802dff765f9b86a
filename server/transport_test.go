package server_test

import (
	"net/http"
	"net/http/httptest"
)

// transport answers requests by a handler, without a network.
type transport struct{ h http.Handler }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI, in.RemoteAddr = r.URL.RequestURI(), "192.0.2.1:1234"
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	t.h.ServeHTTP(w, in)
	return w.Result(), nil
}
