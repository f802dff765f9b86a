// Package wire has the parts that all HTTP clients of models share: limits of
// answers, no redirects, requests, streams, and errors of package llm.
package wire
