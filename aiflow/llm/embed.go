package llm

import "context"

// Embedder is a [Model] that also says where texts lie: near to each other
// means alike. Not every provider has one.
type Embedder interface {
	Model
	// Embed returns a vector for each text, in their order, all of the same
	// length. Its errors are those of Generate.
	Embed(ctx context.Context, model string, texts []string) (*Embeddings, error)
}

// Embeddings are where texts lie.
type Embeddings struct {
	Vectors  [][]float32
	Usage    Usage // Output is 0
	Provider string
	Model    string // that answered, as the provider calls it
}
