// Package remotes answers what the REST API is asked about the foreign MCP
// servers of an account.
package remotes
