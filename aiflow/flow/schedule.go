package flow

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Schedule says at which times a trigger starts its flow.
type Schedule struct {
	Cron     string // minute, hour, day, month and weekday
	Timezone string // whose clocks count, as Europe/Berlin
}

// Next is the first time after another at which the schedule comes; false: it
// never does. A time that clocks leave out when they are set forward comes when
// they are set; one that they show twice comes the first time, unless the
// schedule names every hour, which then has two of them.
func (s Schedule) Next(after time.Time) (time.Time, bool) {
	fine := true
	c := parseCron(s.Cron, func(string, string) { fine = false })
	if !fine {
		return time.Time{}, false
	}
	return c.next(after, values.Location(s.Timezone, time.UTC))
}

// Schedules are the times at which the trigger starts its flow.
func (t *Trigger) Schedules() []Schedule { return t.schedules }

// Schedules are the times at which the trigger of a document starts it, which
// may refer to what is not there any more; none if it does not compile.
func (t *Types) Schedules(document []byte) []Schedule {
	d, _ := Decode(document)
	if d == nil {
		return nil
	}
	if p := t.compiled(d).program; p != nil {
		return p.Trigger().Schedules()
	}
	return nil
}
