package mcp

import (
	"context"
	"fmt"
	"sync"
)

// Batch executes 1 to [MaxBatch] calls in parallel and returns their outcomes in
// the order of the calls. Each counts against the limits and succeeds or fails
// alone. The error reports a wrong number of calls.
func (r *Registry) Batch(ctx context.Context, c Caller, calls []Request) ([]Outcome, *Error) {
	if len(calls) == 0 || len(calls) > MaxBatch {
		return nil, invalid([]Detail{{"calls", fmt.Sprintf("must have from 1 to %d elements", MaxBatch)}})
	}
	out := make([]Outcome, len(calls))
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() { out[i] = r.Execute(ctx, c, calls[i]) })
	}
	wg.Wait()
	return out, nil
}
