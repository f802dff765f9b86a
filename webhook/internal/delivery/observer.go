package delivery

import "time"

// Observer receives counts. Its functions must not block; nil ones are
// skipped.
type Observer struct {
	Attempted func(outcome string, duration time.Duration) // "delivered", "retried", "paused", "failed", "dead"
	// Finished is told of every delivery that is over ("delivered", "failed",
	// "dead"), and how long after its event.
	Finished func(outcome string, after time.Duration)
	Paused   func() // an endpoint went down
	Disabled func() // an endpoint answered 410 or was down for too long
}

func (o *Observer) attempted(outcome string, duration time.Duration) {
	if o != nil && o.Attempted != nil {
		o.Attempted(outcome, duration)
	}
}

func (o *Observer) finished(outcome string, after time.Duration) {
	if o != nil && o.Finished != nil {
		o.Finished(outcome, after)
	}
}

func (o *Observer) paused() {
	if o != nil && o.Paused != nil {
		o.Paused()
	}
}

func (o *Observer) disabled() {
	if o != nil && o.Disabled != nil {
		o.Disabled()
	}
}
