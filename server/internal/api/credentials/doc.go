// Package credentials answers what the REST API is asked about
// the credentials with which flows and their tools prove to others who they are.
package credentials
