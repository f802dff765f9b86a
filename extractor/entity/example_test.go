package entity_test

import (
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/extractor/entity"
)

// A text that was written on a Wednesday.
func ExampleFind() {
	for _, m := range entity.Find("lunch next friday at 1pm, about 25 euros?", &entity.Options{
		Types: []string{entity.Date, entity.Time, entity.Money}, Locale: "en", Now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC),
	}) {
		fmt.Printf("%s %q %v\n", m.Type, m.Text, m.Value)
	}
	// Output:
	// date "next friday" 2026-03-13
	// time "at 1pm" 13:00:00
	// money "25 euros" {25 EUR}
}
