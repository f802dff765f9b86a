// Package webhooks answers what the REST API is asked about webhooks and their
// deliveries.
package webhooks
