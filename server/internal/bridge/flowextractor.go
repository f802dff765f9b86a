package bridge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/extractor/store"
)

// FlowExtractor finds entities and intents for the nodes of an account's flows.
type FlowExtractor struct{ *store.Account }

// flowExtractTime bounds how long a turn waits for the database here.
const flowExtractTime = 5 * time.Second

const (
	dictionaryPrefix = "dictionary:"
	dateTimeType     = "datetime" // of flows: a date and a time of day
)

// Entities finds the first value of each type, and of each dictionary.
func (f FlowExtractor) Entities(text string, types []string, locale string, now time.Time) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), flowExtractTime)
	defer cancel()
	o := &entity.Options{Locale: locale, Now: now}
	out := map[string]any{}
	for _, t := range types {
		switch id, own := strings.CutPrefix(t, dictionaryPrefix); {
		case own:
			v, err := f.word(ctx, id, text, locale)
			if err != nil {
				return nil, err
			}
			if v != nil {
				out[t] = v
			}
		case t == dateTimeType:
			o.Types = append(o.Types, entity.Date, entity.Time)
		default:
			o.Types = append(o.Types, t)
		}
	}
	if len(o.Types) == 0 {
		return out, nil
	}
	found := map[string]any{}
	for _, m := range entity.Find(text, o) {
		if found[m.Type] == nil {
			found[m.Type] = plain(m.Value)
		}
	}
	for _, t := range types {
		if found[t] != nil {
			out[t] = found[t]
		}
	}
	if date, time := found[entity.Date], found[entity.Time]; slices.Contains(types, dateTimeType) && date != nil && time != nil {
		out[dateTimeType] = date.(string) + "T" + time.(string)
	}
	return out, nil
}

// word returns the first word of a dictionary in a text; nil: there is none.
func (f FlowExtractor) word(ctx context.Context, id, text, locale string) (any, error) {
	r, err := f.Try(ctx, id, store.Message{Said: store.Said{Text: text, Locale: locale}})
	if err != nil {
		return nil, unavailableExtractor(err)
	}
	for _, m := range r.Matches {
		if m.Type == entity.Dictionary {
			return m.Value, nil
		}
	}
	return nil, nil
}

// Intent ranks the intents of an extractor.
func (f FlowExtractor) Intent(id, text, _ string) ([]flow.Intent, error) {
	ctx, cancel := context.WithTimeout(context.Background(), flowExtractTime)
	defer cancel()
	ranked, err := f.Rank(ctx, id, text)
	if err != nil {
		return nil, unavailableExtractor(err)
	}
	out := make([]flow.Intent, 0, 2)
	for _, s := range ranked[:min(len(ranked), 2)] {
		out = append(out, flow.Intent{ID: s.Name, Confidence: s.Confidence})
	}
	return out, nil
}

// unavailableExtractor translates errors of an extractor into errors of flows.
// Those of the database are returned as they are, so that the step is tried again.
func unavailableExtractor(err error) error {
	e := &flow.Error{Code: "extract.unavailable", Message: "The extractor does not exist."}
	switch {
	case errors.Is(err, store.ErrUntrained):
		e.Message = "The extractor has not learned its intents yet."
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	return e
}

// AnswerReader reads answers to questions of bots and flows as extractors do.
type AnswerReader struct{}

// Speaks reports whether extractors know a language.
func (AnswerReader) Speaks(locale string) bool { return entity.Speaks(locale) }

// ReadAnswer reads an answer as an extractor of kind entity does: kinds of
// answers have the names of its types.
func (AnswerReader) ReadAnswer(kind, text string, o flow.AnswerOptions) (any, bool) {
	return entity.Parse(kind, text, &entity.Options{Locale: o.Locale, Region: o.Region, Now: o.Now})
}
