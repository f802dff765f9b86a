package llm

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Lister is a [Model] that can list its models.
type Lister interface {
	Model
	// List returns the models, in the provider's order. Its errors are those of
	// Generate.
	List(ctx context.Context) ([]Offer, error)
}

// Offer is a model of a provider.
type Offer struct {
	Name  string // the provider's name of the model: "gpt-5"
	Title string // name for people; "": there is no other
}

// Offers are the models of one provider.
type Offers struct {
	Provider string
	Items    []Offer
	Err      error // why they are unknown; nil: Items has all of them
}

// List lists the models of all providers concurrently and returns them sorted by
// provider. A provider that cannot list its models has no items.
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
