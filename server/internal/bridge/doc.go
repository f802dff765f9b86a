// Package bridge holds the adapters between the services, which do not know each
// other: what happens in one follows in another, in the same transaction. It
// alone knows all of them. Each adapter has only the services that it needs,
// and is filled before the server takes its first request.
package bridge
