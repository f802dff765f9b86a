package media_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging/media"
)

// BenchmarkSave saves documents in a folder. The floor is a copy of the same bytes
// to a new file with a sync; both take turns, so that the load of the machine
// affects both alike.
func BenchmarkSave(b *testing.B) {
	for _, size := range []int{16 << 10, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			content := bytes.Repeat([]byte("0123456789abcdef"), size/16)
			folder, _ := newFolder(b)
			lib, path := newLibrary(b, folder), filepath.Join(b.TempDir(), "floor")
			var floorTime time.Duration
			b.SetBytes(int64(size))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				started := time.Now()
				floor(b, path, content)
				floorTime += time.Since(started)
				require.NoError(b, os.Remove(path))
				b.StartTimer()
				f := save(b, lib, content)
				b.StopTimer()
				require.NoError(b, lib.Delete(b.Context(), f.ID))
				b.StartTimer()
			}
			b.StopTimer()
			b.ReportMetric(float64(floorTime.Nanoseconds())/float64(b.N), "floor-ns/op")
			b.ReportMetric(floorTime.Seconds()/b.Elapsed().Seconds(), "×floor")
		})
	}
}

func floor(b *testing.B, path string, content []byte) {
	b.Helper()
	f, err := os.Create(path)
	require.NoError(b, err)
	_, err = io.Copy(f, struct{ io.Reader }{bytes.NewReader(content)})
	require.NoError(b, err)
	require.NoError(b, f.Sync())
	require.NoError(b, f.Close())
}

// BenchmarkInspect inspects a photograph of a usual size; most of the time is for
// the preview.
func BenchmarkInspect(b *testing.B) {
	content := jpegFile(1600, 1200)
	for b.Loop() {
		info := media.Inspect(b.Context(), bytes.NewReader(content), int64(len(content)), "image/jpeg")
		require.NotEmpty(b, info.JPEGThumbnail)
	}
}
