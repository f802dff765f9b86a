package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// pageLimit is the query parameter that says how many items a page of a list
// has at most.
const pageLimit = "limit"

// clampLimit lowers a limit above the maximum of its list to that maximum.
func (a *API) clampLimit(c huma.Context, next func(huma.Context)) {
	if limit, ok := c.Operation().Metadata[pageLimit].(int64); ok && exceeds(c.Query(pageLimit), limit) {
		c = clampedContext{c, strconv.FormatInt(limit, 10)}
	}
	next(c)
}

// noteMaxLimit notes the most items that a page of a list may have.
func noteMaxLimit(op *huma.Operation) {
	for _, p := range op.Parameters {
		if p.In == "query" && p.Name == pageLimit && op.Method == http.MethodGet && p.Schema.Maximum != nil {
			op.Metadata[pageLimit] = int64(*p.Schema.Maximum)
		}
	}
}

// exceeds says whether a text is a whole number above most, however large.
func exceeds(text string, limit int64) bool {
	digits := strings.TrimPrefix(text, "+")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return err != nil || n > limit
}

// humaContext keeps the method Context of what is embedded.
type humaContext huma.Context

// clampedContext is a request with another limit.
type clampedContext struct {
	humaContext
	limit string
}

// Query returns the first value of a query parameter.
func (c clampedContext) Query(name string) string {
	if name == pageLimit {
		return c.limit
	}
	return c.humaContext.Query(name)
}

// Unwrap returns the request as it came.
func (c clampedContext) Unwrap() huma.Context { return c.humaContext }

// showLimits shows limits as a client meets them: a number above the maximum is
// no error. The parameters are copied because the originals check requests.
func showLimits(doc *huma.OpenAPI) {
	for op := range Operations(doc) {
		limit, ok := op.Metadata[pageLimit].(int64)
		if !ok {
			continue
		}
		for i, p := range op.Parameters {
			if p.Name == pageLimit {
				shown, schema := *p, *p.Schema
				schema.Maximum, shown.Schema = nil, &schema
				shown.Description = fmt.Sprintf("Maximum number of items on the page. A number above %d counts as %[1]d.", limit)
				op.Parameters[i] = &shown
			}
		}
	}
}
