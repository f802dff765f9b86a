package extractor_test

import (
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/extractor"
)

// A receiver of webhooks reads what was found in a message.
func ExampleDataPayload() {
	body := []byte(`{"reference":1,"ref":1,"remoteJid":"16505551234::single","messageId":"m1",
		"extractor":{"id":"e1","name":"order number","kind":"regex"},"event":null,
		"values":{"order":"A-17"},"messageTimestamp":1772366400}`)
	var p extractor.DataPayload
	if err := json.Unmarshal(body, &p); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Extractor.Name, string(p.Values["order"]))
	// Output: order number "A-17"
}
