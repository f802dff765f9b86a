package agent

import "github.com/trunklinehq/trunkline/aiflow/flow"

// Stop says why an agent stopped. More may be added.
type Stop string

// Why an agent stops. After those that name a bound it gives one last answer
// without tools, unless the output "limit" of its node leads on.
const (
	StopDone         Stop = "done"
	StopMaxTurns     Stop = "max_turns"      // answers of the model
	StopMaxCalls     Stop = "max_tool_calls" // calls of tools
	StopBudget       Stop = "budget"         // tokens, or a budget of the account
	StopTimeout      Stop = "timeout"        // of all of it
	StopToolFailures Stop = "tool_failures"  // three in a row, or arguments that were not mended
	StopTruncated    Stop = "truncated"      // the model's answer was too long
	StopInvalid      Stop = "invalid"        // the answer does not fit its schema
	StopRefused      Stop = "refused"        // the model declines
	StopModelError   Stop = "model_error"
	StopApproval     Stop = "approval" // it waits for consent
	StopDenied       Stop = "denied"   // consent was refused
	StopHandoff      Stop = "handoff"  // it wants a person
	StopAsk          Stop = "ask"      // it waits for the contact
)

// result is what the node is told at the end of a leg.
func (w *worker) result(finish flow.Finish, why Stop) *flow.ModelResult {
	r := &flow.ModelResult{Finish: finish, StopReason: string(why), Usage: w.journal.usage(w.req.Model)}
	if finish == flow.FinishAsk || finish == flow.FinishApproval {
		r.Resume = w.session.ID
	}
	return r
}
