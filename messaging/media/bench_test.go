package media_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging/media"
)

// BenchmarkSave keeps a document in a folder. The floor is a copy of the same
// bytes to a new file that is brought to the disk.
func BenchmarkSave(b *testing.B) {
	for _, size := range []int{16 << 10, 1 << 20, 16 << 20} {
		content := append([]byte("PK\x03\x04"), bytes.Repeat([]byte("0123456789abcdef"), size/16)...)
		b.Run(fmt.Sprintf("%d KiB/floor", size>>10), func(b *testing.B) {
			dir := b.TempDir()
			b.SetBytes(int64(len(content)))
			for i := 0; b.Loop(); i++ {
				f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
				require.NoError(b, err)
				_, err = io.Copy(f, struct{ io.Reader }{bytes.NewReader(content)})
				require.NoError(b, err)
				require.NoError(b, f.Sync())
				require.NoError(b, f.Close())
			}
		})
		b.Run(fmt.Sprintf("%d KiB/save", size>>10), func(b *testing.B) {
			folder, _ := newFolder(b)
			lib := newLibrary(b, folder)
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				save(b, lib, content)
			}
		})
	}
}

// BenchmarkInspect looks into a photograph of a usual size; most of it is the
// preview.
func BenchmarkInspect(b *testing.B) {
	content := jpegFile(1600, 1200)
	for b.Loop() {
		info := media.Inspect(b.Context(), bytes.NewReader(content), int64(len(content)), "image/jpeg")
		require.NotEmpty(b, info.JPEGThumbnail)
	}
}
