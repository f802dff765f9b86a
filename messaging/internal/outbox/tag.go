package outbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/payload"
)

// checkTag refuses a tag that the network of the reference does not have. A
// network without tags ignores it.
func (d *prepared) checkTag() error {
	known := d.provider.Capabilities().Tags
	if _, ok := known[d.req.Tag]; ok || d.req.Tag == "" || len(known) == 0 {
		return nil
	}
	return &payload.Invalid{Field: "message.tag", Message: "must be one of " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")}
}

// tagged reports whether the tag lets the message out after the window.
func (d *prepared) tagged(now time.Time) bool {
	ttl, ok := d.provider.Capabilities().Tags[d.req.Tag]
	lastInbound := d.windowUS - d.ref.Window.Microseconds() // when the contact wrote last
	return ok && d.windowUS > 0 && database.Time(lastInbound).Add(ttl).After(now)
}

// wayOut says what may be sent although the window is closed, for users.
func (d *prepared) wayOut() string {
	const closed = "The contact has not written within the window in which free-form messages may be sent. "
	tags := d.provider.Capabilities().Tags
	if len(tags) == 0 {
		return closed + "Send an approved template instead: a message of type template."
	}
	var ways []string
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		ways = append(ways, fmt.Sprintf("%s within %d days of the contact's last message", tag, int(tags[tag].Hours())/24))
	}
	return closed + "Only a message with a tag can be sent: " + strings.Join(ways, ", ") + "."
}
