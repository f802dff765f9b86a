// Package sanitize makes what networks deliver fit for storing: names that no
// index could hold, times that no column could hold, and texts that no
// database stores.
package sanitize
