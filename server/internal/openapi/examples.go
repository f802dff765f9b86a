package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	_ "embed" // examples.json

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// exchange is a request that the tests made, and its answer.
type exchange struct {
	Path     map[string]string `json:"path,omitempty"`
	Query    map[string]string `json:"query,omitempty"`
	Request  json.RawMessage   `json:"request,omitempty"`
	Response json.RawMessage   `json:"response,omitempty"`
}

// examplesFile is written by tests: go test ./server -examples.
//
//go:embed examples.json
var examplesFile []byte

// exchanges are those of the file, by operation and status.
var exchanges = sync.OnceValue(func() map[string]map[string]exchange {
	var out map[string]map[string]exchange
	if err := json.Unmarshal(examplesFile, &out); err != nil {
		panic(fmt.Sprintf("openapi: reading examples.json: %v", err))
	}
	return out
})

// showExamples adds to each operation what it was asked, and what it answered.
func showExamples(doc *huma.OpenAPI) {
	for op := range httpapi.Operations(doc) {
		said := exchanges()[op.OperationID]
		for _, status := range slices.Sorted(maps.Keys(said)) {
			e := said[status]
			for _, p := range op.Parameters {
				exemplify(p, e)
			}
			if op.RequestBody != nil && status < "300" {
				addExample(op.RequestBody.Content["application/json"], status, e.Request)
			}
			if r := op.Responses[status]; r != nil {
				addExample(r.Content["application/json"], status, e.Response)
			}
		}
	}
}

func addExample(m *huma.MediaType, status string, value json.RawMessage) {
	if m == nil || len(value) == 0 {
		return
	}
	if m.Examples == nil {
		m.Examples = map[string]*huma.Example{}
	}
	m.Examples["answered "+status] = &huma.Example{Value: value}
}

// exemplify shows a value of a parameter where none is shown.
func exemplify(p *huma.Param, e exchange) {
	from := map[string]map[string]string{"path": e.Path, "query": e.Query}[p.In]
	value, ok := from[p.Name]
	if !ok || p.Example != nil || p.Schema == nil {
		return
	}
	switch p.Schema.Type {
	case huma.TypeString:
		p.Example = value
	case huma.TypeInteger:
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			p.Example = n
		}
	case huma.TypeBoolean:
		p.Example = strings.EqualFold(value, "true")
	}
}
