package mcp

import (
	"context"
	"fmt"
	"sync"
)

// parallel is how many calls of a batch are under way at a time.
const parallel = 16

// Batch executes 1 to [MaxBatch] calls in parallel and returns their outcomes
// in the order of the calls. Each counts against the limits and fails alone;
// the error is about their number.
func (r *Registry) Batch(ctx context.Context, c Caller, calls []Request) ([]Outcome, *Error) {
	if len(calls) == 0 || len(calls) > MaxBatch {
		failed := refusal(CodeInvalidArguments, "the batch is not valid")
		failed.Details = []Detail{{"calls", fmt.Sprintf("must have from 1 to %d elements", MaxBatch)}}
		return nil, failed
	}
	out := make([]Outcome, len(calls))
	slots := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	for i := range calls {
		slots <- struct{}{}
		wg.Go(func() {
			out[i] = r.Execute(ctx, c, calls[i])
			<-slots
		})
	}
	wg.Wait()
	return out, nil
}
