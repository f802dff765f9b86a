package payload

// Number says whether a phone number has an account on a reference's network.
type Number struct {
	Phone  string `json:"phone" doc:"The phone number as the server read it." example:"16505551234"`
	Exists *bool  `json:"exists" doc:"Whether the number has an account; null if the network does not say."`
	ChatID string `json:"chatId" doc:"Id of the chat with this number, for use in a send." example:"16505551234@s.whatsapp.net"`
}
