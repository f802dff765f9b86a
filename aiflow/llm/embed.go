package llm

import "context"

// Embedder is a [Model] that can also compute embeddings of texts. The vectors of
// similar texts are close to each other. Not every provider has it.
type Embedder interface {
	Model
	// Embed returns a vector for each text, in their order, all of the same
	// length. Its errors are those of Generate.
	Embed(ctx context.Context, model string, texts []string) (*Embeddings, error)
}

// Embeddings are the vectors of texts.
type Embeddings struct {
	Vectors  [][]float32
	Usage    Usage // Output is 0
	Provider string
	Model    string // the model that answered, as the provider calls it
}
