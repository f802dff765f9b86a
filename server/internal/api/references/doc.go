// Package references answers what the REST API is asked about references: their
// settings, their sessions and what listens on them.
package references
