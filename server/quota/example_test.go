package quota_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/server/quota"
	"github.com/trunklinehq/trunkline/sqldb"
)

// An account uses a quota up, and gets an error for more.
func Example() {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing is written any more
	quotas, err := quota.New(ctx, db, &quota.Options{Defaults: quota.Limits{quota.Contacts: 2}})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		err := quotas.Take(ctx, db, "ana", quota.Contacts, 1)
		if over, ok := errors.AsType[*quota.Exceeded](err); ok {
			fmt.Println(over.Code(), over)
			continue
		}
		fmt.Println("taken", err)
	}
	// Output:
	// taken <nil>
	// taken <nil>
	// quota.contacts the account may have 2 contacts
}
