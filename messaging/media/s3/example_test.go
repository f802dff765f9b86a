package s3_test

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/messaging/media/s3"
)

// A bucket takes the place of a folder. Its keys come from the environment.
func ExampleOpen() {
	ctx := context.Background()
	bucket, err := s3.Open(ctx, "s3://files?endpoint=https://s3.example.com&key=1", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	lib, err := media.New(bucket, &media.Options{Secrets: []string{"a secret of at least 32 characters"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = lib.Open(ctx, "01a1feb9-2a73-7ea8-9403-b9a0c6f0412f")
	// Output:
	// s3: the address has a parameter that is unknown: "key"
}
