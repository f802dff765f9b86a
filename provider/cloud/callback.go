package cloud

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Object is the "object" of this kind's callbacks.
func (*Provider) Object() string { return "whatsapp_business_account" }

// Keys returns the ids of the phone number and of the business account.
func (*Provider) Keys(s provider.Settings) (line, group string) {
	return strings.TrimSpace(s[phoneNumberID]), strings.TrimSpace(s[businessAccountID])
}

// Secrets returns the app's secret and the token of the handshake.
func (*Provider) Secrets(s provider.Settings) (signing, verify string) {
	return strings.TrimSpace(s[appSecret]), strings.TrimSpace(s[verifyToken])
}

// Verify is [graph.Verify].
func (*Provider) Verify(secret string, header http.Header, body []byte) bool {
	return graph.Verify(secret, header, body)
}

// Route makes a part of each change of each entry. Changes of a phone number
// name it; those of the whole account (templates, reviews) have no line. The
// parts share body's memory. A body that is no JSON object is an error.
func (*Provider) Route(body []byte) ([]provider.Part, error) {
	if !json.Valid(body) || jsonscan.Kind(body) != '{' {
		return nil, errors.New("cloud: the callback is no JSON object")
	}
	var parts []provider.Part
	for entry := range jsonscan.Elements(jsonscan.Get(body, "entry")) {
		parts = append(parts, routeEntry(entry)...)
	}
	return parts, nil
}

func routeEntry(entry []byte) []provider.Part {
	var id, at, changes []byte
	for name, value := range jsonscan.Members(entry) {
		switch string(name) {
		case "id":
			id = value
		case "time":
			at = value
		case "changes":
			changes = value
		}
	}
	group := scalar(id)
	parts := make([]provider.Part, 0, 1)
	for change := range jsonscan.Elements(changes) {
		metadata := jsonscan.Get(jsonscan.Get(change, "value"), "metadata")
		parts = append(parts, provider.Part{
			Line:  scalar(jsonscan.Get(metadata, "phone_number_id")),
			Group: group,
			Body:  timed(at, change),
		})
	}
	return parts
}

// scalar reads an id; what is none is "".
func scalar(raw []byte) string {
	var id graph.ID
	if raw == nil || id.UnmarshalJSON(raw) != nil {
		return ""
	}
	return string(id)
}

// timed puts the entry's time into the change, where there is one: it is all
// that tells two equal events of an account apart. Messages come without and
// are not copied.
func timed(at, change []byte) []byte {
	if at == nil || jsonscan.Kind(change) != '{' {
		return change
	}
	body := make([]byte, 0, len(change)+len(at)+len(`{"time":,`))
	body = append(append(body, `{"time":`...), at...)
	rest := change[1:]
	if jsonscan.Kind(rest) != '}' {
		body = append(body, ',')
	}
	return append(body, rest...)
}
