package payload

import (
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// ChatUpdate says that it has changed who may answer in a chat, or what the chat
// is.
type ChatUpdate struct {
	Reference provider.ReferenceID
	Key       string // that of the chat's events
	ChatID    string
	BotActive bool
	Handoff   time.Time // a person took over then; zero: no one has
	WasTaken  bool      // a person had taken over before this change, or was asked for
	Merged    []string  // keys of chats that have become one with this one; their events have this one's key from now on
}
