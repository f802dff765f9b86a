package credential_test

import (
	"context"
	"fmt"
	"log"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow/credential"
	"github.com/trunklinehq/trunkline/sqldb"
)

// A token is stored, and sent only to the shop for which it is.
func Example() {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	check(err)
	defer db.Close() //nolint:errcheck // nothing is written any more
	credentials, err := credential.New(ctx, db, &credential.Options{Secrets: []string{"a secret of at least 32 characters"}})
	check(err)
	shop, err := credentials.For(credential.OneAccount).Create(ctx, credential.NewCredential{
		Name: "Shop", Kind: credential.Bearer, Secret: "abcdefgh1234", Hosts: []string{"api.example.org"},
	})
	check(err)
	fmt.Println(shop.Name, shop.Secret)

	for _, url := range []string{"https://api.example.org/orders", "https://example.com/", "http://api.example.org/orders"} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		check(err)
		err = credentials.Authorize(ctx, credential.OneAccount, shop.ID, r)
		fmt.Printf("%q %v\n", r.Header.Get("Authorization"), err)
	}
	// Output:
	// Shop ••••1234
	// "Bearer abcdefgh1234" <nil>
	// "" credential: the credential is not for this host
	// "" credential: credentials are sent over https only
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
