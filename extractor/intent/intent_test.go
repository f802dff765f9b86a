package intent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/extractor/intent"
)

// shop returns intents of the customers of a shop.
func shop() []intent.Intent {
	return []intent.Intent{
		{Name: "refund", Examples: []string{
			"I want my money back", "please refund me", "can I get a refund for this?", "return the payment", "quiero mi dinero de vuelta",
			"give me back what I paid", "how do refunds work", "I'd like to be reimbursed",
		}},
		{Name: "delivery", Examples: []string{
			"where is my parcel", "when does my order arrive", "has it been shipped yet?", "track my package", "¿dónde está mi paquete?",
			"my delivery is late", "the courier did not come", "shipping status please",
		}},
		{Name: "hours", Examples: []string{
			"when are you open", "what are your opening hours", "are you open on sunday", "what time do you close", "¿a qué hora abren?",
			"is the shop open today", "until when is the store open", "opening times",
		}},
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	m, err := intent.Train(t.Context(), shop())
	require.NoError(t, err)
	require.Equal(t, []string{"refund", "delivery", "hours"}, m.Names())
	for text, want := range map[string]string{
		"I would like a refund":        "refund",
		"WHERE IS MY PACKAGE???":       "delivery",
		"wher is my parcle":            "delivery",
		"are you open on saturday":     "hours",
		"donde esta mi paquete":        "delivery",
		"quiero que me den mi dinero":  "refund",
		"what time do you open today?": "hours",
	} {
		best, ok := m.Classify(text, 0.5)
		require.True(t, ok, "%s: %+v", text, best)
		require.Equal(t, want, best.Name, text)
	}
	for _, text := range []string{"", "lorem ipsum dolor sit amet", "🎉", "\xff\xfe"} {
		best, ok := m.Classify(text, 0.6)
		require.False(t, ok, "%q: %+v", text, best)
	}
	ranked := m.Rank("my order")
	sum := 0.0
	for i, s := range ranked {
		sum += s.Confidence
		require.True(t, i == 0 || s.Confidence <= ranked[i-1].Confidence)
	}
	require.InDelta(t, 1, sum, 1e-5)
}

func TestTrainingIsRepeated(t *testing.T) {
	t.Parallel()
	a, err := intent.Train(t.Context(), shop())
	require.NoError(t, err)
	b, err := intent.Train(t.Context(), shop())
	require.NoError(t, err)
	require.Equal(t, a.Rank("where is my money"), b.Rank("where is my money"))
}

func TestTrainRefuses(t *testing.T) {
	t.Parallel()
	many := make([]string, intent.MaxExamples+1)
	for i := range many {
		many[i] = "x"
	}
	ok := intent.Intent{Name: "ok", Examples: []string{"fine"}}
	for says, intents := range map[string][]intent.Intent{
		"intents must be":        {ok},
		"intents[1].name":        {ok, {Examples: []string{"x"}}},
		"alone":                  {ok, ok},
		"intents[1].examples":    {ok, {Name: "b"}},
		"must be 1 to 500":       {ok, {Name: "b", Examples: many}},
		"intents[1].examples[0]": {ok, {Name: "b", Examples: []string{" "}}},
		"must have 1 to":         {ok, {Name: "b", Examples: []string{strings.Repeat("x", intent.MaxExample+1)}}},
	} {
		_, err := intent.Train(t.Context(), intents)
		require.ErrorContains(t, err, says)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := intent.Train(ctx, shop())
	require.ErrorIs(t, err, context.Canceled)
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	m, err := intent.Train(t.Context(), shop())
	require.NoError(t, err)
	r := m.Evaluate([]intent.Intent{
		{Name: "refund", Examples: []string{"a refund please", "where is my parcel"}},
		{Name: "delivery", Examples: []string{"track my parcel"}},
		{Name: intent.NoMatch, Examples: []string{"lorem ipsum dolor"}},
	}, 0.6)
	require.Equal(t, 4, r.Examples)
	require.Equal(t, 3, r.Right)
	require.Equal(t, []intent.Confusion{{Intent: "refund", Taken: "delivery", Times: 1, Example: "where is my parcel"}}, r.Confused)
	require.Equal(t, intent.Result{Name: "delivery", Examples: 1, Right: 1, Others: 1}, r.Intents[1])
}

func TestStored(t *testing.T) {
	t.Parallel()
	m, err := intent.Train(t.Context(), shop())
	require.NoError(t, err)
	raw, err := m.MarshalBinary()
	require.NoError(t, err)
	var again intent.Model
	require.NoError(t, again.UnmarshalBinary(raw))
	for _, text := range []string{"where is my money", "open?", "", "lorem ipsum"} {
		a, b := m.Rank(text), again.Rank(text)
		require.Equal(t, a[0].Name, b[0].Name)
		require.InDelta(t, a[0].Confidence, b[0].Confidence, 0.03)
	}
	for n := range raw {
		require.ErrorIs(t, again.UnmarshalBinary(raw[:n]), intent.ErrStored, "%d bytes", n)
	}
	raw[0]++
	require.ErrorIs(t, again.UnmarshalBinary(raw), intent.ErrStored)
}

// FuzzStored decodes arbitrary bytes. A model that could be decoded must rank.
func FuzzStored(f *testing.F) {
	m, err := intent.Train(f.Context(), shop()[:2])
	require.NoError(f, err)
	raw, err := m.MarshalBinary()
	require.NoError(f, err)
	f.Add(raw)
	f.Add(raw[:64])
	f.Fuzz(func(_ *testing.T, raw []byte) {
		var m intent.Model
		if m.UnmarshalBinary(raw) == nil {
			m.Rank("where is my money")
		}
	})
}

func FuzzRank(f *testing.F) {
	m, err := intent.Train(f.Context(), shop())
	require.NoError(f, err)
	for _, in := range shop() {
		f.Add(in.Examples[0])
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range m.Rank(text) {
			require.True(t, s.Confidence >= 0 && s.Confidence <= 1, "%q: %+v", text, s)
		}
	})
}

// BenchmarkRank ranks the intents of a message.
func BenchmarkRank(b *testing.B) {
	m, err := intent.Train(b.Context(), shop())
	require.NoError(b, err)
	for b.Loop() {
		m.Rank("hello there, could you tell me where my parcel is, I ordered it two weeks ago")
	}
}
