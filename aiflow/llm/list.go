package llm

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Lister is a [Model] that knows which models it has.
type Lister interface {
	Model
	// List names them, in the provider's order. Its errors are those of
	// Generate.
	List(ctx context.Context) ([]Offer, error)
}

// Offer is a model that a provider has.
type Offer struct {
	Name  string // the provider's name of the model: "gpt-5"
	Title string // what people call it; "": nothing else
}

// Offers are the models of one provider.
type Offers struct {
	Provider string
	Items    []Offer
	Err      error // why they cannot be had; nil: they are all there
}

// List asks all providers at once which models they have, and answers in the
// order of their names. A provider that cannot say has no items.
func (m *Models) List(ctx context.Context) []Offers {
	if m == nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(m.byProvider))
	out := make([]Offers, len(names))
	var asked sync.WaitGroup
	for i, name := range names {
		out[i].Provider = name
		lister, ok := m.byProvider[name].(Lister)
		if !ok {
			continue
		}
		asked.Go(func() { out[i].Items, out[i].Err = lister.List(ctx) })
	}
	asked.Wait()
	return out
}
