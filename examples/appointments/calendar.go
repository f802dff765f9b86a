package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
)

// calendar has the times of a day. The flow calls it over HTTP.
type calendar struct {
	mu    sync.Mutex
	times []string
	taken map[string]string // name of the contact by time
}

// handler serves GET /slots, and PUT /slots/{time} with the name of the contact.
func (c *calendar) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /slots", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string][]string{"free": c.free()})
	})
	mux.HandleFunc("PUT /slots/{time}", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Who string }
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if !c.book(r.PathValue("time"), in.Who) {
			w.WriteHeader(http.StatusConflict)
		}
	})
	return mux
}

func (c *calendar) free() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	free := []string{}
	for _, t := range c.times {
		if c.taken[t] == "" {
			free = append(free, t)
		}
	}
	return free
}

// book assigns a time to a contact. It may be repeated: the flow repeats a request
// whose answer was lost.
func (c *calendar) book(t, who string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.times, t) || (c.taken[t] != "" && c.taken[t] != who) {
		return false
	}
	c.taken[t] = who
	return true
}
