package cloud_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/providertest"
)

// seed is one small thing that a change can hold.
type seed struct {
	field string
	value string
}

// seeds are the items of the callbacks in testdata, each by itself: what is
// small is explored quickly.
func seeds(f *testing.F) []seed {
	f.Helper()
	files, err := filepath.Glob("testdata/callbacks/*.json")
	require.NoError(f, err)
	var all []seed
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(f, err)
		for entry := range jsonscan.Elements(jsonscan.Get(body, "entry")) {
			for change := range jsonscan.Elements(jsonscan.Get(entry, "changes")) {
				all = append(all, seedsOf(strings.Trim(string(jsonscan.Get(change, "field")), `"`), jsonscan.Get(change, "value"))...)
			}
		}
	}
	require.NotEmpty(f, all)
	return all
}

func seedsOf(field string, value []byte) []seed {
	var items []seed
	for name, array := range jsonscan.Members(value) {
		for item := range jsonscan.Elements(array) {
			items = append(items, seed{field, `{"` + string(name) + `":[` + string(item) + `]}`})
		}
	}
	if items == nil {
		return []seed{{field, string(value)}}
	}
	return items
}

// FuzzRoute: whatever anybody posts is taken apart without harm, into parts
// that together are not much larger than it, and that can be parsed.
func FuzzRoute(f *testing.F) {
	for _, x := range seeds(f) {
		f.Add([]byte(`{"entry":[{"id":"1","time":2,"changes":[{"field":"` + x.field + `","value":` + x.value + `}]}]}`))
	}
	f.Add(change("messages", `"messages":[],"statuses":[]`))
	f.Add([]byte(`{"entry":[{"id":1,"time":2,"changes":[{},7,{"value":{},"field":7}]}]}`))
	f.Add([]byte(`{"entry":[{"id":"1","changes":[{"value":{"waba_info":{"waba_id":2}}}]}],"entry":[[],{"changes":[null]}]}`))
	p := cloud.New(nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		parts, err := p.Route(body)
		if err != nil {
			require.Empty(t, parts)
			parts = []provider.Part{{Body: body}} // as if it came from elsewhere
		}
		size := 0
		for _, part := range parts {
			size += len(part.Body)
			parse(t, p, part)
		}
		require.LessOrEqual(t, size, 2*len(body)+64*len(parts))
	})
}

// FuzzParse holds the laws of a reader of foreign bytes for every field: it
// never panics, what it returns is whole, and reading twice gives the same.
func FuzzParse(f *testing.F) {
	for _, x := range seeds(f) {
		f.Add(x.field, []byte(x.value))
	}
	p := cloud.New(nil)
	f.Fuzz(func(t *testing.T, field string, value []byte) {
		if strings.ContainsAny(field, `"\`) {
			return
		}
		parse(t, p, provider.Part{NetworkID: referenceID, Body: []byte(`{"time":1760000000,"field":"` + field + `","value":` + string(value) + `}`)})
	})
}

func parse(t *testing.T, p *cloud.Provider, part provider.Part) {
	t.Helper()
	events, bad := p.Parse(part)
	require.NotEmpty(t, len(events)+len(bad), "nothing is lost")
	for _, e := range events {
		providertest.Whole(t, e)
	}
	for _, b := range bad {
		require.NotEmpty(t, b.Reason)
	}
	again, badAgain := p.Parse(part)
	require.Equal(t, events, again)
	require.Equal(t, bad, badAgain)
}
