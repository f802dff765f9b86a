package knowledge_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/sqldb"
)

// A question finds the passage that answers it.
func Example() {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	check(err)
	defer db.Close() //nolint:errcheck // nothing is written any more

	flows, err := aiflow.New(ctx, db, nil) // whose projects have files
	check(err)
	files, err := knowledge.New(ctx, db, nil)
	check(err)

	project, err := flows.For(aiflow.OneAccount).Projects().Create(ctx, aiflow.NewProject{Name: "Hotel"})
	check(err)
	hotel := files.For(aiflow.OneAccount)
	_, err = hotel.Add(ctx, project.ID, knowledge.NewFile{Name: "prices.md", Data: []byte(`
# Rooms
A double room is 90 euros a night.
# Breakfast
Breakfast is served from seven to ten.
`)})
	check(err)
	found, err := hotel.Search(ctx, project.ID, knowledge.Query{Text: "How much is a double room?", Passages: 1})
	check(err)
	fmt.Println(found[0].Name, found[0].Part)
	fmt.Println(found[0].Text)
	// Output:
	// prices.md 1
	// Rooms
	// A double room is 90 euros a night.
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
