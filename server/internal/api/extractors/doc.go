// Package extractors answers what the REST API is asked about extractors, which
// find values in messages.
package extractors
