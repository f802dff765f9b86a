package destination_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/trunklinehq/trunkline/server/backup/destination"
)

// A destination keeps the newest backups.
func ExamplePrune() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "backups-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	there, err := destination.Open(ctx, dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	day := time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)
	for i := range 3 {
		file, err := there.Create()
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = file.Close() // after backup.Write
		if err := there.Put(ctx, destination.Name(day.AddDate(0, 0, i)), file.Name()); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := destination.Prune(ctx, there, 2); err != nil {
		fmt.Println(err)
		return
	}
	names, err := there.List(ctx)
	fmt.Println(names, err)
	// Output:
	// [2026-11-29T030000Z.trunkline 2026-11-30T030000Z.trunkline] <nil>
}
