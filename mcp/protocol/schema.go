package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
)

// failureMember is the member of the structured content of a failed call.
const failureMember = "error"

// failureSchema describes failureMember.
const failureSchema = `{"type":"object","description":"The reason why the call failed. Then there are no other members.","properties":{` +
	`"code":{"type":"string","description":"Stable identifier of the error."},` +
	`"message":{"type":"string","description":"Explanation of the error."},` +
	`"details":{"type":"array","items":{"type":"object","properties":{"argument":{"type":"string"},"message":{"type":"string"}},` +
	`"required":["argument","message"]}}},"required":["code","message","details"]}`

// resultOrError widens the schema of a result to include failures. The first
// generation of the TypeScript client validates the structured content of failed
// calls against the schema, and throws. The members stay where tools look for them;
// only the required members become a choice of two.
func resultOrError(schema json.RawMessage) (json.RawMessage, error) {
	var object, properties map[string]json.RawMessage
	if err := json.Unmarshal(schema, &object); err != nil {
		return nil, fmt.Errorf("reading the schema of the result: %w", err)
	}
	if raw, ok := object["properties"]; ok {
		if err := json.Unmarshal(raw, &properties); err != nil {
			return nil, fmt.Errorf("reading the members of the result: %w", err)
		}
	}
	if _, taken := properties[failureMember]; taken {
		return nil, errors.New("a result must have no member \"" + failureMember + "\": it tells failed calls apart")
	}
	required := object["required"]
	if required == nil {
		required = json.RawMessage("[]")
	}
	if properties == nil {
		properties = map[string]json.RawMessage{}
	}
	properties[failureMember] = json.RawMessage(failureSchema)
	var err error
	if object["properties"], err = json.Marshal(properties); err != nil {
		return nil, fmt.Errorf("writing the members of the result: %w", err)
	}
	delete(object, "required")
	object["anyOf"] = fmt.Appendf(nil, `[{"required":%s},{"required":[%q]}]`, required, failureMember)
	return json.Marshal(object)
}
