package provider

import (
	"encoding/json"
	"time"
)

// The contents below are received, never sent.

// Reply is a contact's answer by a press: on one of [Buttons], a row of a
// [List], a button of a template or whatever else asks for one.
type Reply struct {
	ID          string    `json:"id"`
	Title       string    `json:"title"` // as the contact saw it; "" when the network does not say
	Description string    `json:"-"`     // of a row
	To          ReplyTo   `json:"-"`     // what was pressed
	Until       time.Time `json:"-"`     // of a [ReplyPermission]: when it ends; zero: not said
}

// ReplyTo is what a [Reply] answers.
type ReplyTo string

// What can be pressed.
const (
	ReplyButton     ReplyTo = "button"
	ReplyRow        ReplyTo = "row"        // of a list
	ReplyTemplate   ReplyTo = "template"   // a button of a template; the id is its payload
	ReplyPermission ReplyTo = "permission" // may we call? The id is the answer: accept, reject
	ReplyQuick      ReplyTo = "quick"      // a quick reply of Messenger
	ReplyPostback   ReplyTo = "postback"   // a lasting button of Messenger: of a menu, a card, the start
)

// Form is what a contact filled in: a flow, an address.
type Form struct {
	Name string `json:"name"` // of the form: "flow", "address_message", or a name of its own
	Text string `json:"-"`    // what the contact's app shows of it, or ""
	Data string `json:"data"` // as the contact's app sent it: nearly always a JSON object
}

// Order is a basket that a contact sends.
type Order struct {
	CatalogID string      `json:"catalogId"`
	Text      string      `json:"text,omitempty"`
	Items     []OrderItem `json:"items"`
}

// OrderItem is one product of an [Order]. The numbers are as the network
// wrote them.
type OrderItem struct {
	ProductID string      `json:"productId"` // the seller's own
	Quantity  json.Number `json:"quantity"`
	Price     json.Number `json:"price"` // of one piece
	Currency  string      `json:"currency"`
}

// Shared is what a contact passes on from elsewhere in the network, or a card
// that the account sent: a link, a post, a reel, a product.
type Shared struct {
	Kind   string `json:"-"` // the network's word: "fallback", "post", "reel", "template"
	Text   string `json:"-"` // what was written beside it, or ""
	Title  string `json:"-"`
	Detail string `json:"-"` // a second line of it, or ""
	URL    string `json:"-"` // as the network has it: maybe none that leads anywhere
}

// Opened says that the contact opened the chat and has written nothing yet:
// with a get-started button, a link, an advertisement. See
// [Message.Referral].
type Opened struct{}

// Undecryptable is the kind of an [Unknown] that could not be read although the
// network has delivered it. A later message of the same id may bring it.
const Undecryptable = "undecryptable"

// Unknown is a message that cannot be shown: the network withholds it, or this
// version does not know its kind.
type Unknown struct {
	Kind string          `json:"type"` // the network's word for it, or ""
	Body json.RawMessage `json:"-"`    // the item of the callback, where it is more than that word; to be kept
}

// The names of the content types.
func (Reply) Type() string   { return "reply" }
func (Form) Type() string    { return "form" }
func (Order) Type() string   { return "order" }
func (Shared) Type() string  { return "shared" }
func (Opened) Type() string  { return "opened" }
func (Unknown) Type() string { return "unsupported" }
