// Package connection keeps this node's sessions with networks. A reference that
// is a connection is leased by one node at a time, which opens it, closes it
// and does what is desired of it; of others each node opens a session when it
// needs one. Calls of a reference that another node has are forwarded to it.
package connection
