// Package timeline keeps with a message what became of it: that it was stored,
// each attempt to send it, its statuses, its file, and that the program could not
// handle it.
package timeline

// Steps of a message. There will be others.
const (
	StepReceived = "received" // the network told of it, at the time that it says
	StepStored   = "stored"
	StepAttempt  = "attempt" // to hand it to the network: sent, failed, retried or unconfirmed
	StepStatus   = "status"
	StepFile     = "file" // waiting, kept or lost
	StepDeferred = "held" // its events wait for a file

	StepExtracted = "extracted" // values were found in it
	StepHandled   = "handled"   // the program's handler was called for it: failed
)
