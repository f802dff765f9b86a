package delivery

import "time"

// Observer receives counts: see the Observer of package webhook.
type Observer struct {
	Attempted func(outcome string, duration time.Duration)
	Finished  func(outcome string, after time.Duration)
	Paused    func()
	Disabled  func()
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
