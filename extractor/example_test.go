package extractor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/extractor/intent"
)

func ExampleEntities() {
	for _, m := range extractor.Entities("Lunch on friday at 1pm? Write to ana@example.com", &entity.Options{
		Types: []string{entity.Date, entity.Time, entity.Email}, Locale: "en", Now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC),
	}) {
		fmt.Println(m.Name, m.Value)
	}
	// Output:
	// date 2026-03-06
	// time 13:00:00
	// email ana@example.com
}

func ExampleTrainIntents() {
	m, err := extractor.TrainIntents(context.Background(), []intent.Intent{
		{Name: "refund", Examples: []string{"I want my money back", "please refund me", "can I get a refund?"}},
		{Name: "delivery", Examples: []string{"where is my parcel", "when does my order arrive", "track my package"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	best, sure := m.Classify("is my package on its way?", 0.5)
	fmt.Println(best.Name, sure)
	// Output: delivery true
}

// A pattern has names for what it finds, and tests that go with it.
func ExampleRegex() {
	orders, err := extractor.NewRegex(extractor.RegexConfig{
		Pattern: `order (?P<order>[A-Z]-\d+)`, Flags: "i",
		Tests: []extractor.Test{{Text: "Where is order A-17?", Values: extractor.Values{"order": []byte(`"A-17"`)}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range orders.Find("I miss order B-4 and order C-9", nil) {
		fmt.Println(m.Name, m.Value, m.Start, m.End)
	}
	report, err := orders.Evaluate()
	fmt.Println(report.Right, "of", report.Tests, err)
	// Output:
	// order B-4 13 16
	// order C-9 27 30
	// 1 of 1 <nil>
}

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
