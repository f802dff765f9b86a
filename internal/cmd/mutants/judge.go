package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"
)

// outcome is what became of a mutant.
type outcome int

const (
	killed    outcome = iota // a test failed
	late                     // the tests did not end
	survived                 // the tests passed
	unreached                // no test runs the code, or none where the mutant differs
	accept                   // survivors.txt lists it
	outcomeCount
)

func (o outcome) String() string {
	return [...]string{"killed", "killed by its time", "survived", "not reached", "accepted"}[o]
}

// judgeAll builds the binary, and judges the points that are undecided.
func (b *binary) judgeAll(ctx context.Context, overlay string, points []*point, outcomes []outcome) error {
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	if err := b.build(ctx, overlay); err != nil {
		return err
	}
	defer func() { _ = os.Remove(b.path) }()
	if err := b.record(ctx); err != nil {
		return err
	}
	b.judge(ctx, points, outcomes)
	return nil
}

// judge runs the tests that reach each point that is undecided, with its mutant.
func (b *binary) judge(ctx context.Context, points []*point, outcomes []outcome) {
	var open []int
	for i, o := range outcomes {
		if o == survived || o == unreached {
			open = append(open, i)
		}
	}
	b.each(len(open), func(i int) {
		p, o := points[open[i]], &outcomes[open[i]]
		switch tests := b.reach[p.id]; {
		case len(tests) > 0:
			*o = b.mutant(ctx, p.id, tests)
		case b.other[p.id]:
			*o = b.run(ctx, bound(b.whole), []string{active(p.id)}, "-test.failfast", "-test.run", b.all)
		}
	})
}

// mutant runs tests in batches, each longer than the one before, until one fails.
func (b *binary) mutant(ctx context.Context, id int, tests []test) outcome {
	var total time.Duration
	for size := time.Second; len(tests) > 0 && total < b.budget; size *= 3 {
		var names []string
		var cost time.Duration
		for len(tests) > 0 && (len(names) == 0 || cost+tests[0].cost <= size) {
			names = append(names, tests[0].name)
			cost += tests[0].cost
			tests = tests[1:]
		}
		total += cost
		o := b.run(ctx, bound(cost), []string{active(id)}, "-test.failfast", "-test.run", pattern(names...), "-test.skip", sqliteOnly)
		if o != survived {
			return o
		}
	}
	return survived
}

// active is the variable that chooses a mutant.
func active(id int) string { return "MUTANT=" + strconv.Itoa(id) }

// bound returns how long tests may run that take cost without a mutant. It is no
// assertion about time: what takes so much longer waits for something that the
// mutant prevents, or never ends.
func bound(cost time.Duration) time.Duration { return 5*time.Second + 4*cost }
