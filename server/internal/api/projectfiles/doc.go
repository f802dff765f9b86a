// Package projectfiles answers what the REST API is asked about
// the files of projects that assistants answer from.
package projectfiles
