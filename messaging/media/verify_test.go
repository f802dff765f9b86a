package media_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging/media"
)

// TestServe_Damaged serves files whose content changed in the store: no client gets the
// whole of one.
func TestServe_Damaged(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, store media.Store) {
		lib := newLibrary(t, store)
		server := httptest.NewServer(lib)
		t.Cleanup(server.Close)
		large := bytes.Repeat([]byte("0123456789abcdef"), 20<<10)
		flip := func(at int) func([]byte) []byte {
			return func(b []byte) []byte {
				b[at] ^= 1
				return b
			}
		}
		for name, c := range map[string]struct {
			content []byte
			damage  func([]byte) []byte
		}{
			"the first byte": {large, flip(0)},
			"the last byte":  {large, flip(len(large) - 1)},
			"cut":            {large, func(b []byte) []byte { return b[:len(b)/2] }},
			"longer":         {large, func(b []byte) []byte { return append(b, 'x') }},
			"emptied":        {large, func([]byte) []byte { return nil }},
			"a small file":   {[]byte("small"), flip(2)},
		} {
			f := save(t, lib, c.content)
			sum := sha256.Sum256(c.content)
			known, err := sum[:], error(nil)
			lib.Verify(func(_ context.Context, id string) ([]byte, error) {
				require.Equal(t, f.ID, id)
				return known, err
			})
			require.Equal(t, len(c.content), fetch(t, server, lib.Link(f.ID, "a"), ""), "%s: before", name)

			damaged := c.damage(bytes.Clone(c.content))
			require.NoError(t, store.Put(t.Context(), f.ID, bytes.NewReader(damaged), int64(len(damaged))))
			require.Negative(t, fetch(t, server, lib.Link(f.ID, "a"), ""), name)

			known = nil
			require.Equal(t, len(damaged), fetch(t, server, lib.Link(f.ID, "a"), ""), "%s: its digest is not known", name)
			err = errors.New("the database cannot be reached")
			require.Equal(t, len(damaged), fetch(t, server, lib.Link(f.ID, "a"), ""), "%s: its digest cannot be found out", name)
		}
	})
}

// TestServe_VerifiedRanges serves ranges of a sound file, which are not compared.
func TestServe_VerifiedRanges(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, store media.Store) {
		lib := newLibrary(t, store)
		server := httptest.NewServer(lib)
		t.Cleanup(server.Close)
		content := bytes.Repeat([]byte("0123456789abcdef"), 20<<10)
		f, sum := save(t, lib, content), sha256.Sum256(content)
		lib.Verify(func(context.Context, string) ([]byte, error) { return sum[:], nil })
		for ranged, want := range map[string]int{
			"bytes=0-": len(content), "bytes=0-99": 100, "bytes=-100": 100, "bytes=100-": len(content) - 100, "bytes=5000-300000": 295_001,
		} {
			require.Equal(t, want, fetch(t, server, lib.Link(f.ID, "a"), ranged), ranged)
		}
	})
}

// fetch returns the size of what a link leads to, or −1 if it cannot be had completely.
func fetch(t *testing.T, server *httptest.Server, link, ranged string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/"+link, http.NoBody)
	require.NoError(t, err)
	if ranged != "" {
		req.Header.Set("Range", ranged)
	}
	res, err := server.Client().Do(req)
	if err != nil {
		return -1
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		return -1
	}
	return len(got)
}
