package cloud_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
)

// FuzzValidate: whatever object a user gives for the network, the answer is
// nil or names what is wrong.
func FuzzValidate(f *testing.F) {
	for _, seed := range []string{
		`{"type":"button","header":{"type":"image","image":{"link":"https://a.b/c"}},"body":{"text":"x"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"x"}}]}}`,
		`{"type":"list","body":{"text":"x"},"action":{"button":"x","sections":[{"title":"x","rows":[{"id":"1","title":"x"}]}]}}`,
		`{"type":"new","header":{"type":"image"},"action":7}`, `{"type":"body","parameters":[{"type":"text","text":"x"},{"type":"image"}]}`,
		`{"type":"button","sub_type":"url","index":1}`, `{"type":"carousel","cards":[{"card_index":0,"components":[{"type":"body"}]}]}`, `[]`, `{`,
		`{"type":"BODY","text":"x {{1}} y","example":{"body_text":[["a"]]}}`,
	} {
		f.Add([]byte(seed))
	}
	p := cloud.New(nil)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, content := range []provider.Content{provider.Interactive{Interactive: raw}, templated("x", "en", string(raw))} {
			err := p.Validate(content)
			var invalid *provider.Invalid
			if err != nil && (!errors.As(err, &invalid) || invalid.Field == "" || invalid.Message == "") {
				t.Fatalf("%v names nothing", err)
			}
			if err == nil && !json.Valid(raw) {
				t.Fatal("what is no JSON would be sent")
			}
		}
	})
}
