package graph_test

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/trunklinehq/trunkline/provider/graph"
)

func ExampleVerify() {
	body := []byte(`{"object":"whatsapp_business_account","entry":[]}`) // as it arrived
	header := http.Header{}
	header.Set(graph.SignatureHeader, graph.Sign("app secret", body))
	fmt.Println(graph.Verify("app secret", header, body), graph.Verify("another", header, body))
	// Output: true false
}

func ExampleChallenge() {
	query, _ := url.ParseQuery("hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=word")
	text, ok := graph.Challenge(query, func(token string) bool { return token == "word" })
	fmt.Println(text, ok)
	// Output: 1158201444 true
}
