// Package jobs answers what the REST API is asked about the jobs that continue
// behind answers.
package jobs
