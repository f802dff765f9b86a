// Package functions answers what concerns the functions that agents call, over
// the REST API and over the Model Context Protocol, and the log of their calls.
package functions
