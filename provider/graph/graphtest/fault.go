package graphtest

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Fault describes how the next requests fail. The first of Hang, Cut, Code and
// Status that is set is used.
type Fault struct {
	Times int // requests to fail; 0: one, -1: all until [Server.Heal]
	// Path is the end of the path of the requests, such as "/subscribed_apps";
	// "": sends, except marking as read.
	Path string
	// Taken accepts the message nevertheless: the answer is lost, not the
	// message.
	Taken bool

	Hang bool // no answer until the client closes the connection
	Cut  bool // the connection is closed without an answer

	Code, Subcode int           // an error of the API
	Message       string        // "": the code
	Details       string        // error_data.details
	Transient     bool          // is_transient
	Status        int           // HTTP status; 0 with a Code: 400
	RetryAfter    time.Duration // header, in whole seconds; 0: none
	Body          string        // instead of an error of the API, with a Status
}

// Fail adds faults. They are used in order, each for its times.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		f.Times = cmp.Or(f.Times, 1)
		s.faults = append(s.faults, f)
	}
}

// Heal removes the faults that are left.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// fault returns the next fault for the request, or nil.
func (s *Server) fault(path string, send bool) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.faults {
		f := s.faults[i]
		if f.Path == "" && !send || f.Path != "" && !strings.HasSuffix(path, f.Path) {
			continue
		}
		if s.faults[i].Times > 0 {
			if s.faults[i].Times--; s.faults[i].Times == 0 {
				s.faults = append(s.faults[:i], s.faults[i+1:]...)
			}
		}
		return &f
	}
	return nil
}

// reply returns the answer of a fault, or none. A request that hangs ends with
// over.
func (f *Fault) reply(ctx, over context.Context) *reply {
	switch {
	case f.Hang:
		select {
		case <-ctx.Done():
		case <-over.Done():
		}
		panic(http.ErrAbortHandler)
	case f.Cut:
		panic(http.ErrAbortHandler)
	}
	r := &reply{status: f.Status, retryAfter: f.RetryAfter}
	if f.Body != "" || f.Code == 0 && f.Status != 0 {
		r.raw = f.Body
		return r
	}
	r.status = cmp.Or(r.status, http.StatusBadRequest)
	message := f.Message
	if message == "" {
		message = "(#" + strconv.Itoa(f.Code) + ") as the test wants"
	}
	r.fail = &failure{code: f.Code, subcode: f.Subcode, message: message, details: f.Details, transient: f.Transient}
	return r
}
