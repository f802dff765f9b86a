package cloud

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/trunklinehq/trunkline/provider"
)

// Fields are those of callbacks that are understood.
func Fields() []string { return slices.Sorted(maps.Keys(fields)) }

// Composed returns the request to the network that sends what a request asks for, as if
// its file were the network's.
func Composed(req Request) ([]byte, error) {
	content := req.Content
	if m, is := content.(provider.Media); is {
		m.ID, m.StoredID = m.StoredID, ""
		content = m
	}
	body, err := compose(content)
	if err != nil {
		return nil, err
	}
	m := Message{To: req.To, Group: req.Group, ReplyTo: req.ReplyTo, CallbackData: req.CallbackData, Body: body}
	if isScopedID(req.To) {
		m.To, m.Recipient = "", req.To
	}
	return json.Marshal(m.envelope())
}
