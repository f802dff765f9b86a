// Package jobs answers what the REST API is asked about the jobs that go on
// behind answers.
package jobs
