package compat_test

import (
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/trunklinehq/trunkline/messaging/compat"
)

// A message as this server tells of it, and as wuzapi would.
func ExampleFind() {
	payload := []byte(`{
		"reference": 1, "ref": 1, "remoteJid": "16505551234::single", "mine": false, "id": "3EB0C767D26A1D8C", "pushName": "Ana",
		"messageTimestamp": 1772366400, "status": "DELIVERED", "type": "text", "text": "Hello"
	}`)
	f := compat.Find("wuzapi")
	fmt.Println(f.Has("message", payload))
	body, err := f.Body(compat.Event{
		ID: "1", Type: "message", ChatID: "16505551234@s.whatsapp.net", At: time.Unix(1772366400, 0), Payload: payload,
		Reference: compat.Reference{ID: "1", Name: "shop", BaseURL: "https://chat.example.com"},
	})
	if err != nil {
		log.Fatal(err)
	}
	var theirs struct {
		Type  string
		Event struct {
			Info    struct{ ID, Chat, PushName string }
			Message struct{ Conversation string }
		}
	}
	if err := json.Unmarshal(body, &theirs); err != nil {
		log.Fatal(err)
	}
	fmt.Println(theirs.Type, theirs.Event.Info, theirs.Event.Message.Conversation)
	// Output:
	// true
	// Message {3EB0C767D26A1D8C 16505551234@s.whatsapp.net Ana} Hello
}
