package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/sqldb"
)

// Two extractors of a line read a message.
func Example() {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	check(err)
	defer db.Close() //nolint:errcheck // nothing is written any more
	extractors, err := store.New(ctx, db, nil)
	check(err)
	shop := extractors.For(store.OneAccount)
	line := store.Scope{Reference: 1}
	for _, n := range []store.NewExtractor{
		{Name: "order number", Kind: store.Regex, Scope: line, Config: json.RawMessage(`{"pattern": "#(?P<order>\\d+)", "groups": {"order": "number"}}`)},
		{Name: "address", Kind: store.Entity, Scope: line, Config: json.RawMessage(`{"types": ["email"]}`)},
	} {
		_, err := shop.Create(ctx, n)
		check(err)
	}

	results, err := shop.Extract(ctx, store.Message{Reference: 1, Said: store.Said{Text: "Where is #17? Write to ana@example.com"}})
	check(err)
	for _, r := range results {
		for _, m := range r.Matches {
			fmt.Printf("%s: %s = %v, in %q\n", r.Extractor.Name, m.Name, m.Value, m.Text)
		}
	}
	// Output:
	// order number: order = 17, in "17"
	// address: email = ana@example.com, in "ana@example.com"
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
