package payload

import (
	"encoding/json"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// Erased says of whom nothing may be kept.
type Erased struct {
	Account    string
	Reference  provider.ReferenceID
	ChatIDs    []string  // every id by which the chat is or was known
	MessageIDs []string  // what the contact wrote in other chats
	Before     time.Time // what came later is of a new chat with the same ids, and stays
}

// Erasure is a deletion that has begun: nothing of the chat, or of the reference
// without one, is shown or sent any more, until it is erased. It can be kept as
// JSON.
type Erasure struct {
	Reference provider.ReferenceID `json:"reference"`
	Subject   json.RawMessage      `json:"subject,omitempty"` // whose traces it removes; nil: the whole reference
	At        time.Time            `json:"at"`
}
