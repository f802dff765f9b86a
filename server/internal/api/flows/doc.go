// Package flows answers what the REST API is asked about flows and bots: the
// projects that flows belong to, their drafts and versions, their runs, and the
// simulations in which they are tried.
package flows
