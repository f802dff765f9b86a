package llmtest

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// dimensions is the length of the vectors of a [Server].
const dimensions = 64

// embed implements embeddings of OpenAI. Texts that share words have similar
// vectors.
func (s *Server) embed(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return // the client has disconnected
	}
	var texts []string
	if err := json.Unmarshal(body, &in); err == nil && json.Unmarshal(in.Input, &texts) != nil {
		texts = []string{""}
		if json.Unmarshal(in.Input, &texts[0]) != nil {
			texts = nil
		}
	}
	switch {
	case !s.admits(r):
		write(w, http.StatusUnauthorized, openAI{}.refusal(http.StatusUnauthorized, llm.CodeForbidden, "the key is wrong"))
		return
	case len(texts) == 0:
		write(w, http.StatusBadRequest, openAI{}.refusal(http.StatusBadRequest, llm.CodeInvalid, "input: must be a text or a list of texts"))
		return
	}
	items, tokens := make([]any, len(texts)), int64(0)
	for i, text := range texts {
		tokens += llm.Estimate(text)
		items[len(texts)-1-i] = map[string]any{"object": "embedding", "index": i, "embedding": vector(text)} // clients must not rely on the order
	}
	s.asked(llm.Usage{Known: true, Input: tokens})
	write(w, http.StatusOK, map[string]any{
		"object": "list", "model": in.Model, "data": items, "usage": map[string]any{"prompt_tokens": tokens, "total_tokens": tokens},
	})
}

// vector counts the words of a text in the dimension of each word's hash, and
// normalizes the result to length 1.
func vector(text string) []float64 {
	out := make([]float64, dimensions)
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(strings.Trim(word, ".,;:!?"))) // never fails
		out[h.Sum32()%dimensions]++
	}
	sum := 0.0
	for _, v := range out {
		sum += v * v
	}
	if sum == 0 {
		out[0], sum = 1, 1
	}
	for i := range out {
		out[i] /= math.Sqrt(sum)
	}
	return out
}
