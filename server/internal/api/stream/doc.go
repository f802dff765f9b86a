// Package stream answers those who follow what happens, as server-sent events.
package stream
