package webtest_test

import (
	"context"
	"fmt"

	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// Two phones write to each other. A client under test takes the place of one
// of them: it shows a QR code, and the phone scans that.
func Example() {
	ctx := context.Background()
	fake := webtest.Start(nil)
	defer fake.Close()
	ana, ben := fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"}), fake.AddPhone(nil)

	id, err := ana.SendText(ctx, ben.LID(), "Hello")
	if err != nil {
		panic(err)
	}
	got, err := ben.Await(ctx, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(got.Text(), got.ID == id)
	_, err = ana.AwaitReceipt(ctx, id, types.ReceiptTypeDelivered)
	fmt.Println(err)
	// Output:
	// Hello true
	// <nil>
}
