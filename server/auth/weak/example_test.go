package weak_test

import (
	"fmt"

	"github.com/trunklinehq/trunkline/server/auth/weak"
)

func ExampleReason() {
	for _, password := range []string{"password123", "ana.gomez.1985", "three kettles of fish"} {
		if why := weak.Reason(password, "ana.gomez@example.org", "Ana Gómez"); why != "" {
			fmt.Println(password, why)
		}
	}
	// Output:
	// password123 is one of the most common passwords
	// ana.gomez.1985 must not consist of the e-mail or the name
}
