// Package panel is the page at /panel/. It says what is running here and where
// the API's documents are.
package panel

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
)

//go:embed index.html
var index string

// Handler serves the page of a server of this version, whose API documents
// are at docs, relative to the page.
func Handler(version, docs string) (http.Handler, error) {
	t, err := template.New("panel").Parse(index)
	if err != nil {
		return nil, fmt.Errorf("reading the panel's page: %w", err)
	}
	var page bytes.Buffer
	if err := t.Execute(&page, struct{ Version, Docs string }{version, docs}); err != nil {
		return nil, fmt.Errorf("making the panel's page: %w", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-cache")
		_, _ = w.Write(page.Bytes())
	}), nil
}
