// Package panel is the web panel at /panel/: its built files, which are part of
// the program. A server that does not import it has none.
//
//	s, err := server.New(ctx, server.Config{DB: db, Secrets: secrets, Panel: panel.Handler})
//
// The sources are beside it (src); npm run build makes dist of them. The tests
// of the repository build it again and compare.
package panel

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:generate npm run --silent build

//go:embed all:dist
var dist embed.FS

// policy lets the panel load what we serve, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; " +
	"connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// types are the media types of what is built.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".html": "text/html; charset=utf-8",
	".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8", ".md": "text/plain; charset=utf-8",
}

// Handler serves the panel at a path, such as /panel/, as a browser sees it:
// with what a proxy before the server takes off. Requests end in /panel/…
// Every address below it that is no file is the panel's page, because its
// script shows what belongs there.
func Handler(at string) http.Handler {
	h := &handler{files: map[string]*file{}}
	root, err := fs.Sub(dist, "dist")
	if err == nil {
		err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			h.files[name] = newFile(root, name, at)
			return nil
		})
	}
	if err != nil || h.files["index.html"] == nil {
		panic(fmt.Errorf("panel: reading the built files: %w", err)) // they are part of the program
	}
	return h
}

type handler struct{ files map[string]*file }

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, name, _ := strings.Cut(r.URL.Path, "/panel/")
	f := h.files[name]
	if f == nil && strings.HasPrefix(name, "assets/") {
		http.NotFound(w, r)
		return
	}
	if f == nil {
		f = h.files["index.html"]
	}
	f.serve(w, r)
}

// file is one of the built files, which is read when it is first asked for.
type file struct {
	mime, cache string
	load        func() (content, error)
}

type content struct {
	plain, zipped []byte
	tag           string
}

func newFile(root fs.FS, name, at string) *file {
	f := &file{mime: types[path.Ext(name)], cache: "no-cache"}
	if strings.HasPrefix(name, "assets/") {
		f.cache = "public, max-age=31536000, immutable" // the name changes with the content
	}
	f.load = sync.OnceValues(func() (content, error) {
		b, err := fs.ReadFile(root, name)
		if err != nil {
			return content{}, fmt.Errorf("reading %s: %w", name, err)
		}
		if name == "index.html" {
			b = bytes.ReplaceAll(b, []byte(`="./assets/`), []byte(`="`+strings.TrimSuffix(at, "/")+`/assets/`))
		}
		return newContent(b)
	})
	return f
}

func newContent(b []byte) (content, error) {
	sum := sha256.Sum256(b)
	c := content{plain: b, tag: `"` + hex.EncodeToString(sum[:8]) + `"`}
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(b)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return content{}, fmt.Errorf("compressing a file: %w", err)
	}
	c.zipped = zipped.Bytes()
	return c, nil
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	c, err := f.load()
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.mime)
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", f.cache)
	h.Set("ETag", c.tag)
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == c.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := c.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = c.zipped
	}
	_, _ = w.Write(body)
}
