// Package contacts answers what the REST API is asked about contacts: who they
// are, and all that is held on them.
package contacts
