package runtime

import (
	"context"
	"sync"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Triggers keeps the triggers of published versions ready to be asked, for
// engines. The zero value is ready.
type Triggers struct {
	mu    sync.Mutex
	known map[published]*flow.Trigger
}

// published names a version of a flow, which never changes.
type published struct {
	owner   string
	version int64
}

// maxTriggers bounds how many are kept. Beyond it they are made again.
const maxTriggers = 10_000

// Of returns the trigger of a version. program makes it ready when it is asked
// for the first time; a nil program takes nothing.
func (t *Triggers) Of(ctx context.Context, owner string, version int64, program func(context.Context) (*flow.Program, error)) (*flow.Trigger, error) {
	name := published{owner, version}
	t.mu.Lock()
	known := t.known[name]
	t.mu.Unlock()
	if known != nil {
		return known, nil
	}
	p, err := program(ctx)
	if err != nil {
		return nil, err
	}
	made := &flow.Trigger{}
	if p != nil {
		made = p.Trigger()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || len(t.known) >= maxTriggers {
		t.known = map[published]*flow.Trigger{}
	}
	t.known[name] = made
	return made, nil
}
