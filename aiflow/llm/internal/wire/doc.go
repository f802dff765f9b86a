// Package wire is what models over HTTP have in common, whatever their
// provider's own client does: a bound to what is read, no redirects, and errors
// as package llm has them.
package wire
