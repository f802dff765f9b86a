package passkey_test

import (
	"fmt"

	"github.com/trunklinehq/trunkline/server/auth/passkey"
)

// Passkeys are bound to the host of the address that browsers open.
func ExampleSiteOf() {
	for _, address := range []string{"https://Chat.example.org:443/", "http://localhost:3000", "http://chat.example.org", "https://192.0.2.1"} {
		site, err := passkey.SiteOf(address)
		fmt.Println(site.ID, site.Origin, err)
	}
	// Output:
	// chat.example.org https://chat.example.org <nil>
	// localhost http://localhost:3000 <nil>
	//   passkey: this server has no passkeys: they need a base URL with https and a host name, or http://localhost
	//   passkey: this server has no passkeys: they need a base URL with https and a host name, or http://localhost
}
