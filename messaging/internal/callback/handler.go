package callback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/forged"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// maxBody is the most bytes of a callback; networks send up to 3 MB.
const maxBody = 4 << 20

// errVerifyToken reports a handshake for none of the references.
var errVerifyToken = apierr.New("messaging", apierr.Forbidden, "no reference has this verify token: enter the same in the settings of the reference and in the dashboard of the app")

// Refusal is why a request is refused.
type Refusal struct {
	Status int           // of HTTP
	Err    error         // the cause
	After  time.Duration // when to try again; 0: not said
}

// Handler takes the requests of networks. Its fields are set before first use.
type Handler struct {
	Router *Router
	// Client is the address that a request comes from.
	Client func(r *http.Request) netip.Addr
	// Refuse writes the answer to a request that is refused.
	Refuse func(w http.ResponseWriter, r *http.Request, why Refusal)
	Now    func() time.Time

	Limiter forged.Limiter
}

// ServeHTTP answers handshakes and takes callbacks.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		h.handshake(w, r)
	case http.MethodPost:
		h.receive(w, r)
	default:
		w.Header().Set("Allow", "GET, POST")
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// handshake answers a network that asks whether this address is ours.
func (h *Handler) handshake(w http.ResponseWriter, r *http.Request) {
	var failed error
	challenge, ok := provider.Challenge(r.URL.Query(), func(token string) bool {
		known, err := h.Router.Handshake(r.Context(), token)
		failed = err
		return known
	})
	switch {
	case failed != nil:
		h.Refuse(w, r, Refusal{Status: http.StatusServiceUnavailable, Err: failed})
	case !ok:
		h.Refuse(w, r, Refusal{Status: http.StatusForbidden, Err: errVerifyToken})
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = io.WriteString(w, challenge)
	}
}

// receive takes what a network reports. It answers 200 only once all of it is stored.
func (h *Handler) receive(w http.ResponseWriter, r *http.Request) {
	from, announced := h.Client(r), r.ContentLength
	if announced < 0 || announced > maxBody {
		announced = maxBody
	}
	if wait, err := h.Limiter.Take(from, announced, h.Now()); err != nil {
		w.Header().Set("Connection", "close") // the body is not read
		why := refusalOf(err)
		why.After = wait
		h.Refuse(w, r, why)
		return
	}
	result := forged.Unsigned
	defer func() { h.Limiter.Checked(from, announced, h.Now(), result) }()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		h.Refuse(w, r, unreadable(err))
		return
	}
	err = h.process(r, from, body)
	switch {
	case errors.Is(err, ErrNotCallback), errors.Is(err, ErrUnverified), errors.Is(err, forged.ErrBusy), r.Context().Err() != nil:
	case !h.Router.Addressed(body):
		result = forged.Foreign
	case err == nil, errors.Is(err, ErrUnproved):
		result = forged.Signed
	default:
		result = forged.Unchecked
	}
	if err == nil {
		w.WriteHeader(http.StatusOK)
		return
	}
	h.Refuse(w, r, refusalOf(err))
}

// process gives a body to the router when it is its turn.
func (h *Handler) process(r *http.Request, from netip.Addr, body []byte) error {
	done, err := h.Limiter.Wait(r.Context(), from, int64(len(body)), h.Now())
	if err != nil {
		return err
	}
	signed := false
	defer func() { done(signed) }()
	err = h.Router.Receive(database.ForCallback(r.Context()), r.Header, body)
	signed = err == nil
	return err
}

// unreadable says why a body could not be read.
func unreadable(err error) Refusal {
	var large *http.MaxBytesError
	why := Refusal{Status: http.StatusBadRequest, Err: fmt.Errorf("reading a callback: %w", err)}
	switch {
	case errors.As(err, &large):
		why.Status = http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		why.Status = http.StatusRequestTimeout
	}
	return why
}

func refusalOf(err error) Refusal {
	why := Refusal{Status: http.StatusServiceUnavailable, Err: err}
	switch {
	case errors.Is(err, ErrNotCallback):
		why.Status = http.StatusBadRequest
	case errors.Is(err, ErrUnverified):
		why.Status = http.StatusUnauthorized
	case errors.Is(err, forged.ErrBusy):
		why.After = forged.BusyWait
	case errors.Is(err, forged.ErrForged):
		why.Status = http.StatusTooManyRequests
	}
	return why
}

// RefuseText answers a refused request with a text, and logs what an operator must know.
func RefuseText(log *slog.Logger) func(w http.ResponseWriter, r *http.Request, why Refusal) {
	return func(w http.ResponseWriter, r *http.Request, why Refusal) {
		text := "the callback cannot be stored for now: send it again"
		var refused *apierr.Error
		var limited *payload.Error
		switch {
		case errors.As(why.Err, &refused):
			text = refused.Message
		case errors.As(why.Err, &limited):
			text = limited.Message
		case why.Status != http.StatusServiceUnavailable:
			text = why.Err.Error()
		case !errors.Is(why.Err, context.Canceled):
			log.ErrorContext(r.Context(), "a callback was not stored", slog.Any("error", why.Err))
		}
		if why.After > 0 {
			seconds := int64((why.After + time.Second - 1) / time.Second)
			w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
		}
		http.Error(w, text, why.Status)
	}
}

// Connection is the address at the other end of the connection of a request.
func Connection(r *http.Request) netip.Addr {
	at, _ := netip.ParseAddrPort(r.RemoteAddr) // the zero address is one, too
	return at.Addr()
}
