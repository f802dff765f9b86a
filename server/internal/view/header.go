package view

import "github.com/trunklinehq/trunkline/webhook"

// Header is a header that goes with every delivery.
type Header struct {
	Key   string `json:"key" minLength:"1" maxLength:"200" example:"Authorization"`
	Value string `json:"value" maxLength:"4096" doc:"Returned as •••• later." example:"Bearer 7f3a"`
}

// HeadersOf returns headers as they are shown.
func HeadersOf(hs []webhook.Header) []Header {
	out := make([]Header, len(hs))
	for i, h := range hs {
		out[i] = Header(h)
	}
	return out
}
