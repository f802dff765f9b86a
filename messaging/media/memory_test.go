package media_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging/media"
)

const (
	largeFile = 64 << 20
	largeHeap = 4 << 20
)

// A file of 64 MiB takes less than 4 MiB of memory on its way in, while it is
// looked into, and on its way out. This test does not run beside others.
//
//nolint:paralleltest // it measures the heap of the process
func TestMemory(t *testing.T) {
	folder, _ := newFolder(t)
	for name, store := range map[string]media.Store{"folder": folder, "s3": newBucket(t, testkit.S3Server(t))} {
		t.Run(name, func(t *testing.T) {
			lib := newLibrary(t, store)
			index := moov(5000, track("vide", upright, 1920, 1080))
			head := append(box("ftyp", []byte("isom"), words(512)), append(words(largeFile), "mdat"...)...)
			h := newHeap()
			f, err := lib.Save(t.Context(), h.watch(io.MultiReader(bytes.NewReader(head),
				io.LimitReader(endless{}, largeFile-8), bytes.NewReader(index))), media.Upload{Type: "video/mp4"})
			require.NoError(t, err)
			require.Equal(t, media.Info{Width: 1920, Height: 1080, Seconds: 5}, f.Info, "the index stands at the end")
			require.Less(t, h.limit(), uint64(largeHeap), "saving")
			t.Logf("saving: %d KiB", h.limit()>>10)

			h = newHeap()
			w := &sink{heap: h, header: http.Header{}}
			lib.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/"+lib.Link(f.ID, "a.mp4"), nil))
			require.Equal(t, f.Size, w.n)
			require.Less(t, h.limit(), uint64(largeHeap), "serving")
			t.Logf("serving: %d KiB", h.limit()>>10)
		})
	}
}

// heap returns the growth of the heap.
type heap struct{ base, peak uint64 }

func newHeap() *heap {
	runtime.GC()
	runtime.GC()
	h := &heap{}
	h.look()
	h.base = h.peak
	return h
}

func (h *heap) look() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.peak = max(h.peak, m.HeapAlloc)
}

func (h *heap) limit() uint64 {
	h.look()
	return h.peak - h.base
}

// watch measures the heap once in every MiB that is read.
func (h *heap) watch(r io.Reader) io.Reader { return &watched{r: r, heap: h} }

type watched struct {
	r    io.Reader
	heap *heap
	n    int
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if (w.n+n)>>20 > w.n>>20 {
		w.heap.look()
	}
	w.n += n
	return n, err
}

// sink is a response that discards its body.
type sink struct {
	heap   *heap
	header http.Header
	n      int64
}

func (s *sink) Header() http.Header { return s.header }
func (s *sink) WriteHeader(int)     {}
func (s *sink) Write(p []byte) (int, error) {
	if (s.n+int64(len(p)))>>20 > s.n>>20 {
		s.heap.look()
	}
	s.n += int64(len(p))
	return len(p), nil
}
