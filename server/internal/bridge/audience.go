package bridge

import (
	"context"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// audience holds who takes the events of a transaction. It is read in that
// transaction and never remembered: a bot that is published on any node answers
// all messages that are stored after its publication is committed.
type audience struct {
	subscribed map[provider.ReferenceID]bool // a bot or a flow answers there, or an extractor of the reference reads
	reads      map[provider.ReferenceID]bool // extractors of the reference, or of a bot of it, read
	flows      map[string]bool               // extractors of flows of the account read
	active     map[string]bool               // by key: a run has not ended in the chat
}

// audienceTx reads the audience of events with one statement: what it reads is of one
// moment. Only messages of contacts have one.
func (s *Sinks) audienceTx(ctx context.Context, tx database.Executor, evs []messaging.Event) (*audience, error) {
	if !slices.ContainsFunc(evs, fromContact) {
		return &audience{}, nil
	}
	joined, err := s.DB.Join(tx)
	if err != nil {
		return nil, err
	}
	text, args := s.audienceQuery(evs)
	var rows []struct {
		Fact      string
		Reference provider.ReferenceID
		Name      string
	}
	if err := joined.SelectContext(ctx, &rows, text, args...); err != nil {
		return nil, fmt.Errorf("looking for who takes events: %w", err)
	}
	a := &audience{
		subscribed: map[provider.ReferenceID]bool{}, reads: map[provider.ReferenceID]bool{},
		flows: map[string]bool{}, active: map[string]bool{},
	}
	for _, r := range rows {
		switch r.Fact {
		case "listens":
			a.subscribed[r.Reference] = true
		case "reads":
			switch {
			case r.Reference == 0:
				a.flows[r.Name] = true
			case r.Name == "":
				a.subscribed[r.Reference] = true
				fallthrough
			default:
				a.reads[r.Reference] = true
			}
		case "active":
			a.active[r.Name] = true
		}
	}
	return a, nil
}

// audienceQuery returns the statement that reads an audience. On PostgreSQL its text
// does not depend on the events.
func (s *Sinks) audienceQuery(evs []messaging.Event) (text string, args []any) {
	var refs []int64
	var accounts, keys []string
	known := map[any]bool{}
	is := func(v any) bool {
		defer func() { known[v] = true }()
		return known[v]
	}
	for _, ev := range evs {
		if !is(ev.Reference) {
			refs = append(refs, int64(ev.Reference))
		}
		if !is("account " + ev.Account) {
			accounts = append(accounts, ev.Account)
		}
		if !is("key " + ev.Key) {
			keys = append(keys, ev.Key)
		}
	}
	add := func(columns string, query func(first int) (string, []any)) {
		part, more := query(1 + len(args))
		if text != "" {
			text += ` UNION ALL `
		}
		text += `SELECT ` + columns + ` FROM (` + part + `) AS part`
		args = append(args, more...)
	}
	add(`'listens' AS fact, reference, '' AS name`, func(first int) (string, []any) { return s.Bots.ListeningQuery(first, refs) })
	add(`'listens', reference, ''`, func(first int) (string, []any) { return s.Flows.ListeningQuery(first, refs) })
	add(`'reads', reference, account`, func(first int) (string, []any) { return s.Extractors.ReadingQuery(first, refs, accounts) })
	add(`'active', 0, inbox`, func(first int) (string, []any) { return s.Runs.ActiveQuery(first, keys) })
	return text, args
}

// takes reports whether a message is to be worked on, by a run, a bot, a flow or an
// extractor.
func (a *audience) takes(ev messaging.Event) bool {
	return fromContact(ev) && (a.subscribed[ev.Reference] || a.active[ev.Key])
}

// read reports whether extractors may read a message.
func (a *audience) read(ev messaging.Event) bool {
	return a.takes(ev) && (a.reads[ev.Reference] || a.flows[ev.Account])
}
