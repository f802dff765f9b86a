package cloud

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/provider/graph"
)

// flowVersion is the version of the messages that open a flow.
const flowVersion = "3"

// Flow is a button that opens a form. Either ID or Name is set.
//
// See https://developers.facebook.com/docs/whatsapp/flows/guides/sendingaflow
type Flow struct {
	ID       string
	Name     string
	Text     string          // of the button, at most 30 characters
	Token    string          // comes back with the answer, or ""
	Exchange bool            // the form's first screen comes from its endpoint; Screen and Data are not sent
	Screen   string          // the first, or ""
	Data     json.RawMessage // for that screen: an object with members, or nil
	Draft    bool            // the flow is not published yet
}

type flowParameters struct {
	Version string       `json:"flow_message_version"`
	ID      string       `json:"flow_id,omitempty"`
	Name    string       `json:"flow_name,omitempty"`
	Text    string       `json:"flow_cta"`
	Token   string       `json:"flow_token,omitempty"`
	Action  string       `json:"flow_action"`
	Payload *flowPayload `json:"flow_action_payload,omitempty"`
	Mode    string       `json:"mode,omitempty"`
}

type flowPayload struct {
	Screen string          `json:"screen"`
	Data   json.RawMessage `json:"data,omitempty"`
}

func (Flow) kind() string { return "flow" }

func (f Flow) wire() any {
	p := flowParameters{Version: flowVersion, ID: f.ID, Name: f.Name, Text: f.Text, Token: f.Token, Action: "navigate"}
	switch {
	case f.Exchange:
		p.Action = "data_exchange"
	case f.Screen != "":
		p.Payload = &flowPayload{f.Screen, f.Data}
	}
	if f.Draft {
		p.Mode = "draft"
	}
	return named("flow", p)
}

func (f Flow) check(r *graph.Rules, at string) {
	r.Must((f.ID == "") != (f.Name == ""), at+".parameters.flow_id", "must be given, or flow_name, and not both")
	r.Between(at+".parameters.flow_cta", f.Text, maxFlowText)
	if f.Data == nil {
		return
	}
	var members map[string]json.RawMessage
	r.Must(json.Unmarshal(f.Data, &members) == nil && len(members) > 0,
		at+".parameters.flow_action_payload.data", "must be an object with members, or absent")
}
