package payload_test

import (
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging/payload"
)

// A receiver of webhooks reads messages of every type into one Go type.
func ExampleMessagePayload() {
	for _, body := range []string{
		`{"reference":1,"remoteJid":"16505551234::single","type":"text","text":"Hello","messageTimestamp":1772366400}`,
		`{"reference":1,"remoteJid":"16505551234::single","type":"audio","mimetype":"audio/ogg; codecs=opus","fileLength":"9417",
			"seconds":4,"waveform":"","fileUrl":"files/7/1Jx0fQ/voice.ogg","messageTimestamp":1772366401}`,
	} {
		var p payload.MessagePayload
		if err := json.Unmarshal([]byte(body), &p); err != nil {
			fmt.Println(err)
			return
		}
		switch p.Type {
		case payload.TypeText:
			fmt.Println(p.Text)
		default:
			fmt.Println(p.Type, p.FileLength, p.FileURL)
		}
	}
	// Output:
	// Hello
	// audio 9417 files/7/1Jx0fQ/voice.ogg
}
