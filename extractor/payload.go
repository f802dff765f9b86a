package extractor

import "encoding/json"

// DataPayload is the body of a webhook that reports values found in a message, or
// an event of a flow.
type DataPayload struct {
	Reference        int64      `json:"reference" example:"1"`
	Ref              int64      `json:"ref" doc:"Same value as reference." example:"1"`
	RemoteJID        string     `json:"remoteJid" example:"16505551234::single"`
	ChatID           string     `json:"chatId" doc:"Id of the chat, for use in a send; empty if a run without a chat sent the event." example:"16505551234"`
	MessageID        string     `json:"messageId" doc:"Id of the message that has the values." example:"wamid.HBgL"`
	Extractor        *Source    `json:"extractor" doc:"Extractor that found the values; null for an event of a flow."`
	Event            *FlowEvent `json:"event" doc:"Event of a flow; null for values of an extractor."`
	Values           Values     `json:"values" doc:"The values, by name."`
	MessageTimestamp int64      `json:"messageTimestamp" doc:"UNIX seconds." example:"1772366400"`
}

// Source is the extractor that found the values.
type Source struct {
	ID   string `json:"id"`
	Name string `json:"name" example:"order number"`
	Kind string `json:"kind" enum:"regex,ai,intent,entity" example:"regex"`
}

// FlowEvent is the event that an event node of a flow publishes.
type FlowEvent struct {
	Name string          `json:"name" example:"lead"`
	Data json.RawMessage `json:"data" doc:"Any JSON value."` // nil is null
}

// Values are the found values, by name.
type Values map[string]json.RawMessage

// MarshalJSON writes an object, never null.
func (v Values) MarshalJSON() ([]byte, error) {
	if v == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]json.RawMessage(v))
}
