package messenger

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Object is the "object" of the callbacks of this kind.
func (*Provider) Object() string { return "page" }

// Keys returns the id of the page, which has no account above it.
func (*Provider) Keys(s provider.Settings) (reference, group string) {
	return strings.TrimSpace(s[pageID]), ""
}

// Secrets returns the app secret and the token of the handshake.
func (*Provider) Secrets(s provider.Settings) (signing, verify string) { return graph.Secrets(s) }

// Signed is [graph.Signed].
func (*Provider) Signed(header http.Header) bool { return graph.Signed(header) }

// Mentions finds ids that may be those of pages. Some are ids of people.
func (*Provider) Mentions(body []byte) (references, groups []string) {
	return graph.Mentions(body, "id", 256), nil
}

// Verify is [graph.Verify].
func (*Provider) Verify(secret string, header http.Header, body []byte) bool {
	return graph.Verify(secret, header, body)
}

// maxParts limits the entries of a callback. Meta puts at most 1000 updates
// into one.
const maxParts = 1000

// Route makes a part of each entry, which is about one page. The parts share
// body's memory. A body that is not a JSON object is an error.
func (*Provider) Route(body []byte) ([]provider.Part, error) {
	if !json.Valid(body) || jsonscan.Kind(body) != '{' {
		return nil, errors.New("messenger: the callback is not a JSON object")
	}
	var parts []provider.Part
	for raw := range jsonscan.Elements(jsonscan.Get(body, "entry")) {
		if len(parts) == maxParts {
			return nil, fmt.Errorf("messenger: the callback has more than %d entries", maxParts)
		}
		entry := graph.Value(raw)
		parts = append(parts, provider.Part{NetworkID: entry.Get("id").ID(), Body: json.RawMessage(entry)})
	}
	return parts, nil
}
