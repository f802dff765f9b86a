package provider

import (
	"encoding/json"
	"time"
)

// The contents below are received, never sent.

// Reply is a contact's answer to [Buttons], a [List], a button of a template or
// another message with choices.
type Reply struct {
	ID          string    `json:"id"`
	Title       string    `json:"title"` // as the contact saw it; "" if the network does not report it
	Description string    `json:"-"`     // of a row
	To          ReplyTo   `json:"-"`     // what the contact chose
	Until       time.Time `json:"-"`     // of a [ReplyPermission]: when it ends; zero: not reported
}

// ReplyTo is what a [Reply] answers.
type ReplyTo string

// The values of [ReplyTo].
const (
	ReplyButton     ReplyTo = "button"
	ReplyRow        ReplyTo = "row"        // of a list
	ReplyTemplate   ReplyTo = "template"   // a button of a template; the id is its payload
	ReplyPermission ReplyTo = "permission" // whether the account may call; the id is the answer: accept, reject
	ReplyQuick      ReplyTo = "quick"      // a quick reply of Messenger
	ReplyPostback   ReplyTo = "postback"   // a persistent button of Messenger: of a menu, a card, the start
)

// Form is a form that a contact has filled in, such as a flow or an address.
type Form struct {
	Name string `json:"name"` // of the form: "flow", "address_message", or a name of its own
	Text string `json:"-"`    // the text that the contact's app shows of it, or ""
	Data string `json:"data"` // as the contact's app sent it: usually a JSON object
}

// Order is a shopping cart that a contact sends.
type Order struct {
	CatalogID string      `json:"catalogId"`
	Text      string      `json:"text,omitempty"`
	Items     []OrderItem `json:"items"`
}

// OrderItem is one product of an [Order]. The numbers are as the network wrote
// them.
type OrderItem struct {
	ProductID string      `json:"productId"` // the seller's id of the product
	Quantity  json.Number `json:"quantity"`
	Price     json.Number `json:"price"` // of one piece
	Currency  string      `json:"currency"`
}

// Shared is content of the network that a contact shares, or a card that the
// account sent: a link, a post, a reel, a product.
type Shared struct {
	Kind   string `json:"-"` // the network's type: "fallback", "post", "reel", "template"
	Text   string `json:"-"` // the text that was sent with it, or ""
	Title  string `json:"-"`
	Detail string `json:"-"` // a second line of it, or ""
	URL    string `json:"-"` // as the network reports it; it may lead nowhere
}

// Opened says that the contact opened the chat but has not written yet, with a
// get-started button, a link or an advertisement. See [Message.Referral].
type Opened struct{}

// Undecryptable is the kind of an [Unknown] that was delivered but could not be
// decrypted. A later message with the same id may have the content.
const Undecryptable = "undecryptable"

// Unknown is a message that cannot be shown: the network withholds it, or this
// version does not support its type.
type Unknown struct {
	Kind string          `json:"type"` // the network's type, or ""
	Body json.RawMessage `json:"-"`    // the item of the callback, if it contains more than the type
}

// The names of the content types.
func (Reply) Type() string   { return "reply" }
func (Form) Type() string    { return "form" }
func (Order) Type() string   { return "order" }
func (Shared) Type() string  { return "shared" }
func (Opened) Type() string  { return "opened" }
func (Unknown) Type() string { return "unsupported" }
