package messaging

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// checkTag refuses a tag that the reference's network does not have. Lines without
// tags ignore it.
func (d *preparedMessage) checkTag() error {
	known := d.provider.Capabilities().Tags
	if _, ok := known[d.req.Tag]; ok || d.req.Tag == "" || len(known) == 0 {
		return nil
	}
	return &Invalid{Field: "message.tag", Message: "must be one of " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")}
}

// tagged says whether the prepared message's tag still lets it go out.
func (d *preparedMessage) tagged(now time.Time) bool {
	life, ok := d.provider.Capabilities().Tags[d.req.Tag]
	heard := d.windowUS - d.line.Window.Microseconds() // when the contact wrote last
	return ok && d.windowUS > 0 && database.Time(heard).Add(life).After(now)
}

// wayOut says what may be sent although the window is closed.
func (d *preparedMessage) wayOut() string {
	const closed = "The contact has not written within the window in which free-form messages may be sent. "
	tags := d.provider.Capabilities().Tags
	if len(tags) == 0 {
		return closed + "Send an approved template instead: a message of type template."
	}
	var ways []string
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		ways = append(ways, fmt.Sprintf("%s within %d days of the contact's last message", tag, int(tags[tag].Hours())/24))
	}
	return closed + "Only a message with a tag may go out: " + strings.Join(ways, ", ") + "."
}
