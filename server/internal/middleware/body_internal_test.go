package middleware

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// deadlines notes the deadlines of a connection.
type deadlines struct {
	http.ResponseWriter
	set []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// TestPaced_Ended: a body that is read again after its end sets no deadline, which
// net/http would take for a client that has gone.
func TestPaced_Ended(t *testing.T) {
	t.Parallel()
	w := &deadlines{ResponseWriter: httptest.NewRecorder()}
	r := httptest.NewRequest(http.MethodPost, "/", io.NopCloser(strings.NewReader("text")))
	Paced(http.HandlerFunc(func(_ http.ResponseWriter, paced *http.Request) { r = paced })).ServeHTTP(w, r)
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, "text", string(b))
	require.Zero(t, w.set[len(w.set)-1])
	before := len(w.set)
	n, err := r.Body.Read(make([]byte, 8))
	require.Zero(t, n)
	require.Equal(t, io.EOF, err)
	require.Len(t, w.set, before)
}
