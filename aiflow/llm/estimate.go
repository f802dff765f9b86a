package llm

// Estimate is about how many tokens a text takes: a quarter of its bytes,
// rounded up. Providers count in their own ways; where one says what it
// counted, that holds.
func Estimate(text string) int64 { return int64(len(text)+3) / 4 }

// Estimate is about how many tokens a request takes: the sum over its texts,
// with what tools are called, take and return. A file counts as its bytes do.
func (r *Request) Estimate() int64 {
	n := Estimate(r.System) + Estimate(string(r.Schema))
	for _, t := range r.Tools {
		n += Estimate(t.Name) + Estimate(t.Description) + Estimate(string(t.Schema))
	}
	for i := range r.Messages {
		n += r.Messages[i].Estimate()
	}
	return n
}

// Estimate is about how many tokens a message takes.
func (m *Message) Estimate() (n int64) {
	for _, p := range m.Parts {
		n += Estimate(p.Text) + int64(len(p.Data)+3)/4
	}
	for _, c := range m.Calls {
		n += Estimate(c.Name) + Estimate(c.Arguments)
	}
	for _, r := range m.Results {
		n += Estimate(r.Content)
	}
	return n
}
