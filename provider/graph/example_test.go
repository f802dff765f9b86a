package graph_test

import (
	"fmt"
	"net/http"

	"github.com/trunklinehq/trunkline/provider/graph"
)

func ExampleVerify() {
	body := []byte(`{"object":"whatsapp_business_account","entry":[]}`) // as it arrived
	header := http.Header{}
	header.Set(graph.SignatureHeader, graph.Sign("app secret", body))
	fmt.Println(graph.Verify("app secret", header, body), graph.Verify("another", header, body))
	// Output: true false
}
