package payload

// Number says whether a phone number has an account on a reference's network.
type Number struct {
	Phone  string `json:"phone" doc:"As it was understood." example:"16505551234"`
	Exists *bool  `json:"exists" doc:"null: the network does not say."`
	ChatID string `json:"chatId" doc:"What a send takes." example:"16505551234@s.whatsapp.net"`
}
