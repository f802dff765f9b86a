package llm

// Estimate returns the approximate number of tokens of a text: a quarter of its
// bytes, rounded up. Providers count differently; where a provider returns its
// count, that applies.
func Estimate(text string) int64 { return int64(len(text)+3) / 4 }

// Estimate returns the approximate number of tokens of a request: the sum over its
// texts, including the names, arguments and results of tools. A file counts by its
// bytes.
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

// Estimate returns the approximate number of tokens of a message.
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
