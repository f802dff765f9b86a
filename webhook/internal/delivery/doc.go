// Package delivery brings events to endpoints: it finds the endpoints that want
// an event (route.go), loads both (load.go), makes an attempt (attempt.go), decides
// what follows from its answer (deliver.go, with the waits of retry.go and the
// circuits of breaker.go), and records it (complete.go).
//
// It knows the rows of endpoints and events. Package webhook makes and shows them.
package delivery
