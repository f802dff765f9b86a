package httpapi

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// checkText refuses parameters that are no text: not every database stores NUL
// or what is no UTF-8, and neither is ever meant. In bodies encoding/json
// replaces the one, and the services drop the other.
func (a *API) checkText(c huma.Context, next func(huma.Context)) {
	op := c.Operation()
	u := c.URL()
	for _, p := range op.Parameters {
		var values []string
		switch p.In {
		case "query":
			values = u.Query()[p.Name]
		case "path":
			values = []string{c.Param(p.Name)}
		case "header":
			values = []string{c.Header(p.Name)}
		}
		if slices.ContainsFunc(values, notText) {
			a.Refuse(c, Invalid(p.In+"."+p.Name, "must be UTF-8 without U+0000"))
			return
		}
	}
	next(c)
}

func notText(s string) bool { return !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 }
