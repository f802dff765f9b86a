package flow

import "time"

// retryConfig is how often and when a call that failed for now is repeated.
type RetryConfig struct {
	Max    int           `json:"max" default:"0" min:"0" max:"5" doc:"Attempts after the first."`
	Delay  time.Duration `json:"delay" default:"PT1S" min:"PT0.1S" max:"PT60S" doc:"Before the second attempt."`
	Factor float64       `json:"factor" default:"2" min:"1" max:"4" doc:"By which the delay grows each time."`
}
