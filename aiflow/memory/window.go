package memory

import (
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// turn is a turn of a conversation. It is recalled as a whole or not at all.
type turn struct {
	seq  int64
	chat Chat
	said []llm.Message
}

// leftOut replaces the result of a tool that is not recalled.
const leftOut = "[left out]"

// Tokens returns the approximate number of tokens of a message. It rather
// overestimates: three bytes count as one token.
func Tokens(m *llm.Message) int {
	n := 4
	for _, p := range m.Parts {
		n += (len(p.Text) + 2) / 3
	}
	for _, c := range m.Calls {
		n += (len(c.Name)+len(c.Arguments)+2)/3 + 4
	}
	for _, r := range m.Results {
		n += (len(r.Content)+2)/3 + 4
	}
	return n
}

func (t turn) tokens() (n int) {
	for i := range t.said {
		n += Tokens(&t.said[i])
	}
	return n
}

func tokensOf(turns []turn) (n int) {
	for _, t := range turns {
		n += t.tokens()
	}
	return n
}

func messagesOf(turns []turn) (n int) {
	for _, t := range turns {
		n += len(t.said)
	}
	return n
}

// fit returns the newest turns, in order, within the limits. It drops results of
// tools first, the oldest first; then whole turns, the oldest first; finally the
// results of the newest turn.
func fit(turns []turn, messages, tokens int) []turn {
	turns = slices.Clone(turns)
	for len(turns) > 0 && messagesOf(turns) > messages {
		if short := turns[0].plain(); len(short.said) < len(turns[0].said) && messagesOf(turns[1:])+len(short.said) <= messages {
			turns[0] = short
			continue
		}
		turns = turns[1:]
	}
	for i := 0; i < len(turns)-1 && tokensOf(turns) > tokens; i++ {
		turns[i] = turns[i].emptied()
	}
	for len(turns) > 1 && tokensOf(turns) > tokens {
		turns = turns[1:]
	}
	for _, smaller := range []func(turn) turn{turn.emptied, turn.plain} {
		if len(turns) == 1 && tokensOf(turns) > tokens {
			turns[0] = smaller(turns[0])
		}
	}
	if tokensOf(turns) > tokens {
		return nil
	}
	return turns
}

// emptied returns a turn without the results of tools.
func (t turn) emptied() turn {
	said := slices.Clone(t.said)
	for i := range said {
		said[i].Results = slices.Clone(said[i].Results)
		for j := range said[i].Results {
			if len(said[i].Results[j].Content) > len(leftOut) {
				said[i].Results[j].Content = leftOut
			}
		}
	}
	t.said = said
	return t
}

// plain returns a turn without tools: only the question and the answer.
func (t turn) plain() turn {
	t.said = slices.DeleteFunc(slices.Clone(t.said), func(m llm.Message) bool { return len(m.Calls) > 0 || len(m.Results) > 0 })
	return t
}
