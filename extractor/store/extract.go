package store

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/extractor/intent"
	"github.com/trunklinehq/trunkline/internal/text"
)

// Message is a message of a chat whose values are looked for.
type Message struct {
	Said
	Reference int64 // of the message
	ChatID    string
	// Owners are the ids of the bots and flows whose extractors read the message
	// beside those of the reference: the ones that listen there, or have a run in
	// the chat. It is called only when the account has extractors of such. nil:
	// none do.
	Owners func(ctx context.Context) ([]string, error)
}

// Result is what an extractor found in a text.
type Result struct {
	Extractor extractor.Source
	Values    extractor.Values // the first of each name
	Matches   []entity.Match   // in the order of their place
	Usage     *Usage           // nil: no model was asked
	Duration  time.Duration
}

// Extract runs the extractors that read a message: first those that need no model,
// then, concurrently, the models, for at most [Options.Timeout]. An extractor that
// fails is logged and yields no values. Results without values are left out. The
// results of models come last; otherwise older extractors come first. Of values
// with one name the first counts ([Merge]). An error is one of the database.
func (a *Account) Extract(ctx context.Context, m Message) ([]Result, error) {
	all, err := a.reading(ctx, m)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	m.Said = m.whole(a.s.now())
	results := make([]Result, len(all))
	var asks []func()
	known := map[string]bool{}
	for i, c := range all {
		learned, err := a.learned(ctx, c)
		if err != nil {
			a.s.failed(ctx, c, err)
			continue
		}
		began := time.Now()
		var matches []entity.Match
		a.s.guarded(ctx, c, func() error { matches = c.find(&m.Said, learned); return nil })
		results[i], err = c.result(matches, began)
		if err != nil {
			a.s.failed(ctx, c, err)
		}
		for name := range results[i].Values {
			known[name] = true
		}
	}
	var wait sync.WaitGroup
	for i, c := range all {
		if ask := a.toAsk(c, m, results[i], known); ask != nil {
			asks = append(asks, func() {
				a.s.guarded(ctx, c, func() (err error) { results[i], err = ask(ctx); return err })
			})
		}
	}
	for _, ask := range asks {
		wait.Go(ask)
	}
	wait.Wait()
	return found(all, results), nil
}

// found returns the results that have values, those of models last.
func found(all []*compiled, results []Result) []Result {
	var out []Result
	for _, asked := range []bool{false, true} {
		for i, r := range results {
			if len(r.Values) > 0 && (all[i].Kind == AI) == asked {
				out = append(out, r)
			}
		}
	}
	return out
}

// Merge merges the values of several results. Of values with one name the first
// counts.
func Merge(results []Result) extractor.Values {
	out := extractor.Values{}
	for _, r := range results {
		for name, v := range r.Values {
			if _, known := out[name]; !known {
				out[name] = v
			}
		}
	}
	return out
}

// reading returns the extractors that read a message.
func (a *Account) reading(ctx context.Context, m Message) ([]*compiled, error) {
	if m.Text == "" {
		return nil, nil
	}
	all, err := a.items(ctx)
	if err != nil {
		return nil, err
	}
	var owners []string
	asked := m.Owners == nil
	var out []*compiled
	for _, c := range all {
		if !c.Enabled || c.Scope.Flow == "" && c.Scope.Reference != m.Reference {
			continue
		}
		owner := cmp.Or(c.Scope.Flow, c.Scope.Bot)
		if owner != "" && !asked {
			if owners, err = m.Owners(ctx); err != nil {
				return nil, err
			}
			asked = true
		}
		if owner == "" || slices.Contains(owners, owner) {
			out = append(out, c)
		}
	}
	return out, nil
}

// whole returns the text, truncated to what is read, with its time.
func (s Said) whole(now time.Time) Said {
	s.Text = text.Truncate(s.Text, entity.MaxText)
	if s.Now.IsZero() {
		s.Now = now.UTC()
	}
	return s
}

// toAsk returns a function that asks the model of an extractor; nil if there is
// nothing to ask.
func (a *Account) toAsk(c *compiled, m Message, local Result, known map[string]bool) func(context.Context) (Result, error) {
	names := []string{IntentValue}
	switch {
	case c.Kind == AI:
		names = c.ask.names
		if !c.ask.always {
			names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return known[name] })
		}
	case c.Kind != Intent || c.fallback == "" || len(local.Values) > 0:
		names = nil
	}
	if len(names) == 0 {
		return nil
	}
	return func(ctx context.Context) (Result, error) {
		ctx, cancel := context.WithTimeout(ctx, a.s.opts.Timeout)
		defer cancel()
		return a.askFor(ctx, c, m, names)
	}
}

// askFor asks a model for some values, unless its answer for the same text is
// cached.
func (a *Account) askFor(ctx context.Context, c *compiled, m Message, names []string) (Result, error) {
	began := time.Now()
	key := answerKey(c, m.Said, names)
	if matches, ok := a.s.answers.get(key); ok {
		return c.result(matches, began)
	}
	used := &Usage{}
	call := Call{Account: a.id, Extractor: c.ID, Reference: m.Reference, ChatID: m.ChatID, Used: used.add}
	var matches []entity.Match
	var err error
	if c.Kind == AI {
		call.Model = c.ask.model
		matches, err = a.s.values(ctx, c, call, m.Said, names)
	} else {
		call.Model = c.fallback
		matches, err = a.s.meaning(ctx, c, call, m.Said)
	}
	if err != nil {
		return Result{}, err
	}
	a.s.answers.add(key, matches)
	r, err := c.result(matches, began)
	r.Usage = used
	return r, err
}

// result returns what an extractor found.
func (c *compiled) result(matches []entity.Match, began time.Time) (Result, error) {
	slices.SortStableFunc(matches, func(x, y entity.Match) int { return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.End, x.End)) })
	values, err := extractor.ValuesOf(matches)
	if err != nil {
		return Result{}, fmt.Errorf("writing values: %w", err)
	}
	return Result{
		Extractor: extractor.Source{ID: c.ID, Name: c.Name, Kind: c.Kind}, Values: values, Matches: matches, Duration: time.Since(began),
	}, nil
}

// guarded runs a part of an extractor. It logs errors and panics, which do not
// affect other extractors.
func (s *Service) guarded(ctx context.Context, c *compiled, fn func() error) {
	defer func() {
		if v := recover(); v != nil {
			s.opts.Logger.ErrorContext(ctx, "an extractor panicked", "extractor", c.ID, "kind", c.Kind, "stack", string(debug.Stack()))
		}
	}()
	if err := fn(); err != nil {
		s.failed(ctx, c, err)
	}
}

func (s *Service) failed(ctx context.Context, c *compiled, err error) {
	if ctx.Err() == nil {
		s.opts.Logger.WarnContext(ctx, "an extractor failed", "extractor", c.ID, "kind", c.Kind, "error", err)
	}
}

// Try runs one extractor on a text, whether it is enabled or not. Unlike
// [Account.Extract] it returns the extractor's errors. Intents that have never been
// learned are [ErrUntrained].
func (a *Account) Try(ctx context.Context, id string, m Message) (Result, error) {
	c, err := a.item(ctx, id)
	if err != nil {
		return Result{}, err
	}
	return a.try(ctx, c, m)
}

func (a *Account) try(ctx context.Context, c *compiled, m Message) (Result, error) {
	began := time.Now()
	m.Said = m.whole(a.s.now())
	learned, err := a.learned(ctx, c)
	if err != nil {
		return Result{}, err
	}
	if c.Kind == Intent && learned == nil {
		return Result{}, ErrUntrained
	}
	r, err := c.result(c.find(&m.Said, learned), began)
	if err != nil {
		return Result{}, err
	}
	if m.Text == "" {
		return r, nil
	}
	if ask := a.toAsk(c, m, r, nil); ask != nil {
		return ask(ctx)
	}
	return r, nil
}

// item returns a compiled extractor.
func (a *Account) item(ctx context.Context, id string) (*compiled, error) {
	all, err := a.items(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.ID == id {
			return c, nil
		}
	}
	return nil, ErrNotFound
}

// Rank ranks the intents of an extractor of kind [Intent] for a text, the most
// likely first. A text without words has none. It returns [ErrNotFound] for other
// kinds, and [ErrUntrained] for intents that have never been learned.
func (a *Account) Rank(ctx context.Context, id, sentence string) ([]intent.Score, error) {
	c, err := a.item(ctx, id)
	if err != nil {
		return nil, err
	}
	if c.Kind != Intent {
		return nil, ErrNotFound
	}
	learned, err := a.learned(ctx, c)
	if err != nil {
		return nil, err
	}
	if learned == nil {
		return nil, ErrUntrained
	}
	if !strings.ContainsFunc(sentence, isWord) {
		return nil, nil
	}
	return learned.Rank(text.Truncate(sentence, maxIntentText)), nil
}
