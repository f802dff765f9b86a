package media_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging/media"
)

// programmed returns a library that uses programs.
func programmed(t *testing.T) *media.Library {
	t.Helper()
	folder, _ := newFolder(t)
	lib, err := media.New(folder, &media.Options{Secrets: []string{secret}, ProgramTime: 5 * time.Minute}) // on a crowded computer
	require.NoError(t, err)
	return lib
}

// made returns a file that ffmpeg makes of one of its own sources.
func made(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args = append(append([]string{"-nostdin", "-loglevel", "error", "-f", "lavfi", "-i"}, args...), path)
	out, err := exec.CommandContext(t.Context(), testkit.Program(t, "ffmpeg"), args...).CombinedOutput()
	require.NoError(t, err, string(out))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

func saveAs(t *testing.T, lib *media.Library, content []byte, contentType string) media.File {
	t.Helper()
	f, err := lib.Save(t.Context(), bytes.NewReader(content), media.Upload{Type: contentType})
	require.NoError(t, err)
	return f
}

func TestPreview_VideoHasThumbnail(t *testing.T) {
	t.Parallel()
	lib := programmed(t)
	for name, contentType := range map[string]string{"a.mp4": "video/mp4", "a.webm": "video/webm", "a.3gp": "video/3gpp"} {
		args := []string{"testsrc=size=176x144:duration=1:rate=5"}
		if name == "a.3gp" {
			args = append(args, "-c:v", "mpeg4")
		}
		f := saveAs(t, lib, made(t, name, args...), contentType)
		img := decode(t, f.JPEGThumbnail)
		require.Equal(t, 160, img.Bounds().Dx(), name)
		require.Empty(t, f.Waveform, name)
	}
}

// TestPreview_Waveform: a sound that begins in silence has low bars first.
func TestPreview_Waveform(t *testing.T) {
	t.Parallel()
	lib := programmed(t)
	for name, contentType := range map[string]string{"a.ogg": "audio/ogg", "a.mp3": "audio/mpeg", "a.m4a": "audio/mp4", "a.wav": "audio/wav", "a.aac": "audio/aac"} {
		f := saveAs(t, lib, made(t, name, "sine=frequency=440:duration=2,volume=0:enable='lt(t,1)'"), contentType)
		bars, err := base64.StdEncoding.DecodeString(f.Waveform)
		require.NoError(t, err)
		require.Len(t, bars, 64, name)
		require.Less(t, bars[10], byte(5), name)
		require.Greater(t, bars[50], byte(80), name)
		for _, b := range bars {
			require.LessOrEqual(t, b, byte(100))
		}
		require.Empty(t, f.JPEGThumbnail, name)
	}
	silence := saveAs(t, lib, made(t, "s.wav", "anullsrc=duration=1"), "audio/wav")
	require.Equal(t, base64.StdEncoding.EncodeToString(make([]byte, 64)), silence.Waveform)
}

func TestPreview_FirstPageOfPDF(t *testing.T) {
	t.Parallel()
	testkit.Program(t, "pdftoppm")
	f := saveAs(t, programmed(t), page("/Info << /Producer (x) /Title (Offer 7) >>"), "application/pdf")
	require.Equal(t, "Offer 7", f.Title)
	require.Equal(t, 160, decode(t, f.JPEGThumbnail).Bounds().Dy())
}

// page returns a PDF of one empty page, with a member of its trailer.
func page(trailer string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, object := range []string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 300] >>"} {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	xref := b.Len()
	b.WriteString("xref\n0 4\n0000000000 65535 f \n")
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size 4 /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", trailer, xref)
	return b.Bytes()
}

// TestPDFTitle reads titles as PDFs write them.
func TestPDFTitle(t *testing.T) {
	t.Parallel()
	info := func(title string) string { return "1 0 obj << /Producer (x) /Title " + title + " >> endobj" }
	for text, want := range map[string]string{
		info(`(Offer 7)`):                                  "Offer 7",
		info(`(A \(b\) (c) \\ \101\n d)`):                  `A (b) (c) \ A d`,
		info("(\xfe\xff\x00O\x00f\x20\xac)"):               "Of€",
		info("<FEFF004F 0066>"):                            "Of",
		info("<4F66>"):                                     "Of",
		info("(Gr\xfc\xdfe)"):                              "Grüße",
		info("(Grüße)"):                                    "Grüße",
		info("(   )"):                                      "",
		info("(unended"):                                   "",
		info("<zz>"):                                       "",
		info("(a)") + info("(the last one counts)"):        "the last one counts",
		"<< /Title (chapter) /Parent 1 0 R >>":             "",
		"<< /Title (field) /Type /Annot /Author (x) >>":    "",
		info("(secret)") + " trailer << /Encrypt 5 0 R >>": "",
		`<dc:title><rdf:Alt><rdf:li xml:lang="x-default">Tom &amp; Jerry</rdf:li></rdf:Alt></dc:title>`:  "Tom & Jerry",
		info("(" + strings.Repeat("x", 1000) + ")"):                                                      strings.Repeat("x", 300),
		"<dc:title><rdf:Alt><rdf:li>" + strings.Repeat("y", 100_000) + "</rdf:li>":                       "",
		strings.Repeat("/Title (", 50_000):                                                               "",
		"<< /Producer (x) /Title (" + strings.Repeat("(", 40_000) + strings.Repeat("\\", 40_000) + " >>": "",
		strings.Repeat("<<", 50_000) + "/Producer (x) /Title (deep)" + strings.Repeat(">>", 50_000):      "deep",
	} {
		got := inspect(t, []byte("%PDF-1.4\n"+text), "application/pdf")
		require.Equal(t, want, got.Title, "%.60q", text)
	}
}

const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

// archive returns a ZIP archive with files by name and content.
func archive(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i+1 < len(files); i += 2 {
		w, err := z.Create(files[i])
		require.NoError(t, err)
		_, err = w.Write([]byte(files[i+1]))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func core(title string) string {
	return `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>` +
		title + `</dc:title></cp:coreProperties>`
}

func TestOffice(t *testing.T) {
	t.Parallel()
	picture := string(jpegFile(64, 40))
	got := inspect(t, archive(t, "docProps/core.xml", core("Offer &amp; <b>more</b>\n 7"), "docProps/thumbnail.jpeg", picture, "word/document.xml", "<a/>"), docx)
	require.Equal(t, "Offer & more 7", got.Title)
	require.Equal(t, image.Rect(0, 0, 64, 40), decode(t, got.JPEGThumbnail).Bounds())
	require.Zero(t, got.Width)
	odt := inspect(t, archive(t, "meta.xml", core("Brief"), "Thumbnails/thumbnail.png", string(pngFile(8, 8))), "application/vnd.oasis.opendocument.text")
	require.Equal(t, "Brief", odt.Title)
	require.NotEmpty(t, odt.JPEGThumbnail)
}

// TestOffice_Hostile: what is made to hurt says nothing, and soon.
func TestOffice_Hostile(t *testing.T) {
	t.Parallel()
	bomb := strings.Repeat("x", 64<<20)
	many := make([]string, 0, 40_000)
	for i := range 20_000 {
		many = append(many, fmt.Sprint(i), "")
	}
	entities := `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>` + core("&b;")
	for name, content := range map[string][]byte{
		"bomb":           archive(t, "docProps/core.xml", core(bomb), "docProps/thumbnail.jpeg", bomb),
		"many files":     archive(t, append(many, "docProps/core.xml", core("late"))...),
		"entities":       archive(t, "docProps/core.xml", entities),
		"deep":           archive(t, "docProps/core.xml", strings.Repeat("<a>", 300_000)),
		"no archive":     []byte("PK\x03\x04 and nothing"),
		"cut":            archive(t, "docProps/core.xml", core("x"))[:60],
		"picture is one": archive(t, "docProps/thumbnail.jpeg", "GIF89a\xff\xff\xff\xff"),
		"other title":    archive(t, "docProps/core.xml", `<title>no Dublin Core</title>`),
	} {
		require.Equal(t, media.Info{}, inspect(t, content, docx), name)
	}
}

// TestPreview_Hostile: files that are made to hurt cost no more than the time
// that a program has, and reach nothing else.
func TestPreview_Hostile(t *testing.T) {
	t.Parallel()
	testkit.Program(t, "ffmpeg")
	lib := programmed(t)
	secretFile := filepath.Join(t.TempDir(), "secret.png")
	require.NoError(t, os.WriteFile(secretFile, pngFile(30, 30), 0o600))
	truncate := made(t, "a.mp4", "testsrc=size=64x64:duration=1")
	for name, content := range map[string][]byte{
		"playlist":    []byte("#EXTM3U\n#EXTINF:1,\nfile://" + secretFile + "\n#EXT-X-ENDLIST\n"),
		"concat":      []byte("ffconcat version 1.0\nfile '" + secretFile + "'\n"),
		"address":     []byte("http://127.0.0.1:1/a.mp4"),
		"cut":         truncate[:len(truncate)/3],
		"nothing":     bytes.Repeat([]byte{0}, 1000),
		"head, noise": append(bytes.Clone(truncate[:48]), bytes.Repeat([]byte{0xff, 0, 0x7f}, 100_000)...),
	} {
		for _, contentType := range []string{"video/mp4", "audio/mpeg", "application/pdf", ""} {
			f, err := lib.Save(t.Context(), bytes.NewReader(content), media.Upload{Type: contentType})
			if err == nil {
				require.Empty(t, f.JPEGThumbnail+f.Waveform, "%s as %s", name, contentType)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := lib.Save(ctx, bytes.NewReader(truncate), media.Upload{})
	require.ErrorIs(t, err, context.Canceled)
}
