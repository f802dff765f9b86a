package view

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/messaging"
)

// SaidBy returns a text with what is known of the contact who wrote it: the language
// and the zone that the chat has, else those of the phone number.
func SaidBy(chat messaging.Chat, text string, at time.Time) store.Said {
	said := store.Said{Text: text}
	if chat.Language != nil {
		said.UsualLocale = *chat.Language
	}
	var zone *time.Location
	if chat.Phone != nil {
		said.UsualRegion, zone = entity.Writer(*chat.Phone)
	}
	var name string
	if json.Unmarshal(chat.Fields["timezone"], &name) == nil && name != "" {
		if known, err := time.LoadLocation(name); err == nil {
			zone = known
		}
	}
	zone = cmp.Or(zone, time.UTC)
	said.Now = at.In(zone)
	return said
}
