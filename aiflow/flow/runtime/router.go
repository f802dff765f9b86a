package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/groupcommit"
)

// router finds the flow that answers a message.
type router struct {
	db       *database.DB
	engines  *engines
	programs *programs
	opts     *Options

	listeners *groupcommit.Reads[listenersKey, listeners]
}

func newRouter(db *database.DB, engines *engines, programs *programs, opts *Options) *router {
	r := &router{db: db, engines: engines, programs: programs, opts: opts}
	r.listeners = groupcommit.NewReads(r.readListeners)
	return r
}

// listenersKey asks who listens on a reference.
type listenersKey struct {
	account   string
	reference int64
}

// listeners are who listens on a reference, or why that is not known.
type listeners struct {
	all []listener
	err error
}

// listener is a flow of an engine.
type listener struct {
	Listener
	engine Engine
}

// readListeners asks all engines who listens on references.
func (r *router) readListeners(ctx context.Context, keys []listenersKey) (map[listenersKey]listeners, error) {
	out := make(map[listenersKey]listeners, len(keys))
	for _, key := range keys {
		var found listeners
		for _, e := range *r.engines {
			ls, err := e.Listeners(ctx, key.account, key.reference)
			if err != nil {
				found.err = fmt.Errorf("asking engine %s who listens: %w", e.Name(), err)
				break
			}
			for _, l := range ls {
				found.all = append(found.all, listener{l, e})
			}
		}
		out[key] = found
	}
	return out, nil
}

// candidate is a flow that listens on the reference of a message.
type candidate struct {
	listener
	rank   flow.Rank // of the rule that took the message
	passes bool      // its trigger does not take the message
}

// The values of a trigger's whenBusy. What is none of them ignores.
const (
	busyInterrupt = "interrupt"
	busyQueue     = "queue"
)

// decision is what becomes of a message that no run waits for.
type decision struct {
	start     *Start  // nil: nothing
	program   *loaded // of start
	interrupt *runRow // is cancelled first
	after     *runRow // start waits until it has ended
	asked     []Asked // who was asked, in order
}

// decide finds the flow that answers a message while runs are active in its
// chat. Engines are asked one after the other. When no flow answers they are
// asked again: between two answers a flow of the first may have taken over from
// one of the second.
func (r *router) decide(ctx context.Context, in Incoming, active []*runRow) (decision, error) {
	d, taken, err := r.decideNow(ctx, in, active)
	if err == nil && !taken && len(*r.engines) > 1 {
		d, _, err = r.decideNow(ctx, in, active)
	}
	return d, err
}

// decideNow asks who listens now. taken says that a flow answers the message, or
// ignores it because it is busy.
func (r *router) decideNow(ctx context.Context, in Incoming, active []*runRow) (d decision, taken bool, err error) {
	all, err := r.candidates(ctx, in)
	if err != nil {
		return decision{}, false, err
	}
	for i, c := range all {
		says := AskedPasses
		if !c.passes {
			if says, err = r.ask(ctx, in, c, active, &d); err != nil {
				return decision{}, false, err
			}
		}
		d.note(c, says)
		if says == AskedAnswers || says == AskedBusy {
			d.noteAfter(all[i+1:])
			return d, true, nil
		}
	}
	return d, false, nil
}

// ask asks a flow whose trigger takes a message, and has d begin it.
func (r *router) ask(ctx context.Context, in Incoming, c candidate, active []*runRow, d *decision) (string, error) {
	cool, err := r.cooling(ctx, in, c)
	if err != nil || cool {
		return AskedCooling, err
	}
	asked := d.asked
	if *d, err = r.begin(ctx, in, c, active); err != nil {
		return "", err
	}
	d.asked = asked
	if d.start == nil {
		return AskedBusy, nil
	}
	return AskedAnswers, nil
}

// note says what a flow said.
func (d *decision) note(c candidate, says string) {
	if says == AskedPasses && len(d.asked) >= maxPassing {
		return
	}
	d.asked = append(d.asked, Asked{c.engine.Name(), c.Owner, c.Version, c.Priority, says})
}

// noteAfter notes those that are asked no more.
func (d *decision) noteAfter(rest []candidate) {
	for _, c := range rest {
		if c.passes {
			d.note(c, AskedPasses)
		} else {
			d.note(c, AskedAfter)
		}
	}
}

// candidates are the flows of all engines that listen for a message, who is to
// be asked first.
func (r *router) candidates(ctx context.Context, in Incoming) ([]candidate, error) {
	found, _, err := r.listeners.Get(ctx, listenersKey{in.Chat.Account, in.Chat.Reference})
	if err = cmp.Or(err, found.err); err != nil {
		return nil, err
	}
	var all []candidate
	for _, l := range found.all {
		if l.Enabled {
			rank, takes := l.Trigger.Match(in.Inbound)
			all = append(all, candidate{l, rank, !takes})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.rank, b.rank), a.CreatedAt.Compare(b.CreatedAt))
	})
	return all, nil
}

// cooling says whether a flow was begun in a chat so short a time ago that it
// does not answer there.
func (r *router) cooling(ctx context.Context, in Incoming, c candidate) (bool, error) {
	if c.Trigger.Cooldown <= 0 {
		return false, nil
	}
	var recent bool
	const since = ` AND r.owner = $2 AND r.engine = $3 AND r.started_us > $4)`
	err := r.db.GetContext(ctx, &recent, `SELECT EXISTS (SELECT 1 FROM flow_run r WHERE r.inbox = $1`+since+`
		OR EXISTS (SELECT 1 FROM flow_merge m JOIN flow_run r ON r.inbox = m.gone WHERE m.keep = $1`+since,
		in.Chat.Key, c.Owner, c.engine.Name(), database.Micros(r.opts.Now().Add(-c.Trigger.Cooldown)))
	if err != nil {
		return false, fmt.Errorf("looking for earlier runs of a flow: %w", err)
	}
	return recent, nil
}

// begin is the decision for the flow that answers. Of the runs that are
// active in the chat those of the same flow are in its way.
func (r *router) begin(ctx context.Context, in Incoming, c candidate, active []*runRow) (decision, error) {
	d := decision{}
	for _, run := range active {
		if run.Engine != c.engine.Name() || run.Owner != c.Owner {
			continue
		}
		switch c.Trigger.WhenBusy {
		case busyInterrupt:
			d.interrupt = run
		case busyQueue:
			d.after = run
		default:
			return decision{}, nil
		}
	}
	var err error
	if d.program, err = r.programs.version(ctx, c.engine, in.Chat.Account, c.Owner, c.Version); err != nil {
		return decision{}, err
	}
	d.start = &Start{
		Engine: c.engine.Name(), Owner: c.Owner, Version: c.Version, Source: d.program.source, Chat: in.Chat, Input: in.Message,
	}
	return d, nil
}

// interrupts finds the flow that a message begins although a run waits for it:
// another flow, whose trigger names what the message says.
func (r *router) interrupts(ctx context.Context, in Incoming, waiting *runRow) (decision, error) {
	l, err := r.programs.load(ctx, waiting.Document)
	if err != nil || !l.source.Document.Settings.Interruptible {
		return decision{}, err
	}
	all, err := r.candidates(ctx, in)
	if err != nil {
		return decision{}, err
	}
	for _, c := range all {
		if c.passes || c.rank >= flow.RankFirst || c.Owner == waiting.Owner && c.engine.Name() == waiting.Engine {
			continue
		}
		cool, err := r.cooling(ctx, in, c)
		if err != nil {
			return decision{}, err
		}
		if cool {
			continue
		}
		d, err := r.begin(ctx, in, c, nil)
		d.interrupt = waiting
		return d, err
	}
	return decision{}, nil
}
