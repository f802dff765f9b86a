package flow

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

const (
	CodeHTTPStatus = "http.status"
)

// result reads what a call gave: the type itself, or the same as JSON.
func Result[T any](done EffectDone) (T, error) {
	if v, ok := done.Result.(T); ok {
		return v, nil
	}
	var v T
	raw, err := json.Marshal(done.Result)
	if err == nil {
		err = values.Decode(raw, &v)
	}
	if err != nil {
		return v, &Error{Code: "internal", Message: "the result of the call cannot be read"}
	}
	return v, nil
}
