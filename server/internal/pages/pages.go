// Package pages serves what a browser opens: the documents of the API, the
// panel, and the files of messages.
package pages

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/middleware"
)

//go:embed swagger/index.html swagger/init.js swagger/*.gz
var swagger embed.FS

// filesPath is where links to files lead.
const filesPath = "/files/"

// docsPolicy lets the page of the API's documents load what we serve, and
// nothing else. Swagger UI sets styles in its elements.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Pages serves pages and files.
type Pages struct {
	BaseURL string
	Media   *media.Library               // nil: files are not kept
	Panel   func(at string) http.Handler // nil: there is no panel
	Problem func(context.Context, error) *httpapi.Problem
}

// Mount connects the pages. The document is made when it is first asked for.
func (p *Pages) Mount(r *mux.Router, document func() *huma.OpenAPI) {
	base := ""
	if u, err := url.Parse(p.BaseURL); err == nil {
		base = u.Path
	}
	r.Handle("/swagger/openapi.json", p.late(func() (asset, error) {
		b, err := json.Marshal(document())
		return newAsset(b, "application/json", false), err
	})).Methods(http.MethodGet)
	for path, file := range map[string]struct{ name, mime string }{
		"/swagger":                      {"index.html", "text/html; charset=utf-8"},
		"/swagger/init.js":              {"init.js", "text/javascript; charset=utf-8"},
		"/swagger/swagger-ui-bundle.js": {"swagger-ui-bundle.js.gz", "text/javascript; charset=utf-8"},
		"/swagger/swagger-ui.css":       {"swagger-ui.css.gz", "text/css; charset=utf-8"},
	} {
		r.Handle(path, p.late(func() (asset, error) {
			body, err := swagger.ReadFile("swagger/" + file.name)
			return newAsset(body, file.mime, strings.HasSuffix(file.name, ".gz")), err
		})).Methods(http.MethodGet)
	}
	first := base + "/swagger"
	if p.Panel != nil {
		first = base + "/panel/"
		r.Handle("/panel", redirect(first)).Methods(http.MethodGet)
		r.PathPrefix("/panel/").Handler(p.Panel(first)).Methods(http.MethodGet)
	}
	r.Handle("/", redirect(first)).Methods(http.MethodGet)
	r.Handle("/swagger/", redirect(base+"/swagger")).Methods(http.MethodGet)
}

// MountFiles serves the files that links lead to. Readers need no more than the
// link.
func (p *Pages) MountFiles(r *mux.Router) {
	r.PathPrefix(filesPath).Methods(http.MethodGet).HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.Media == nil {
			middleware.NotFound(w, r)
			return
		}
		if httpapi.RequestOf(r.Context()).Head { // the file need not be read for it
			head := *r
			head.Method, r = http.MethodHead, &head
		}
		p.Media.ServeHTTP(w, r)
	})
}

func redirect(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	})
}

// late serves an asset that is made when it is first asked for: most servers
// never are, and it takes time and memory.
func (p *Pages) late(load func() (asset, error)) http.Handler {
	load = sync.OnceValues(load)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, err := load()
		if err != nil {
			httpapi.WriteProblem(w, p.Problem(r.Context(), fmt.Errorf("making a page: %w", err)))
			return
		}
		a.ServeHTTP(w, r)
	})
}

// asset is a file in memory.
type asset struct {
	body    []byte
	gzipped bool
	mime    string
	etag    string
}

func newAsset(body []byte, mime string, gzipped bool) asset {
	sum := sha256.Sum256(body)
	return asset{body: body, gzipped: gzipped, mime: mime, etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
}

func (a asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.mime)
	h.Set("Content-Security-Policy", docsPolicy)
	h.Set("Cache-Control", "no-cache") // asked again, but not sent again
	h.Set("ETag", a.etag)
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == a.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := a.body
	if a.gzipped {
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
		} else {
			body = gunzip(body)
		}
	}
	_, _ = w.Write(body)
}

// gunzip opens what was embedded, which is sound.
func gunzip(b []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	out, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	return out
}
