package functions

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

type setVariable struct {
	chatArguments
	Name      string `json:"name" minLength:"1" maxLength:"200" doc:"Name of the variable."`
	Value     string `json:"value" maxLength:"65536" private:"true" doc:"The value as text, for example 42, true or {\"city\":\"Lima\"}."`
	ValueType string `json:"valueType,omitempty" enum:"string,number,boolean,json" default:"string" doc:"Type that the text is converted to."`
}

type variableSet struct {
	ChatID    string               `json:"chatId" doc:"Id of the chat."`
	Reference provider.ReferenceID `json:"reference" doc:"Id of the reference."`
	Name      string               `json:"name" doc:"Name of the variable."`
	Value     string               `json:"value" doc:"The value as text."`
}

func (s *service) setVariable(ctx context.Context, c mcp.Call, in setVariable) (variableSet, error) {
	v, err := in.value()
	if err != nil {
		return variableSet{}, err
	}
	chat, err := s.account(c).UpdateChat(ctx, in.Reference, in.ChatID, messaging.ChatChange{Variables: map[string]json.RawMessage{in.Name: v}})
	return variableSet{chat.ID, chat.Reference, in.Name, in.Value}, err
}

func (s *service) planVariable(ctx context.Context, c mcp.Call, in setVariable) (any, error) {
	if _, err := in.value(); err != nil {
		return nil, err
	}
	chat, err := s.wouldBe(ctx, c, in.chatArguments)
	return variableSet{chat.ID, chat.Reference, in.Name, in.Value}, err
}

// value returns the text as JSON.
func (in setVariable) value() (json.RawMessage, error) {
	v := json.RawMessage(strings.TrimSpace(in.Value))
	switch in.ValueType {
	case "number":
		var n json.Number
		if v = jsonOf(v); v == nil || v[0] == '"' || json.Unmarshal(v, &n) != nil || n == "" {
			return nil, badValue("must be a number, for example 42 or -1.5")
		}
	case "boolean":
		if s := string(v); s != "true" && s != "false" {
			return nil, badValue("must be true or false")
		}
	case "json":
		if v = jsonOf(v); v == nil {
			return nil, badValue("must be valid JSON")
		}
	default:
		return json.Marshal(in.Value)
	}
	return v, nil
}

// jsonOf returns v if it is valid JSON, else nil.
func jsonOf(v json.RawMessage) json.RawMessage {
	if !json.Valid(v) {
		return nil
	}
	return v
}

func badValue(why string) error {
	return &messaging.Invalid{Field: "value", Message: why}
}
