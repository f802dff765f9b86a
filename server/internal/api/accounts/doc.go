// Package accounts answers what the REST API is asked about accounts as a whole,
// and about the log of what was done in them.
package accounts
