package server

import (
	"context"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// openFilesShown is how long the probe fails after a connection was not accepted. While
// that goes on, net/http tries again every second.
const openFilesShown = 5 * time.Second

// errNotAccepted is what a probe says of connections that were not accepted.
var errNotAccepted error = &os.SyscallError{Syscall: "accept", Err: syscall.EMFILE}

// openFiles notices that the process or the system has too many open files.
type openFiles struct {
	log    *slog.Logger
	now    func() time.Time
	missed atomic.Int64 // when a connection was last not accepted, in nanoseconds; 0: never
}

// exhausted returns an error if no file can be opened, or no connection was accepted
// for that reason a moment ago.
func (o *openFiles) exhausted() error {
	if at := o.missed.Load(); at != 0 && o.now().Sub(time.Unix(0, at)) < openFilesShown {
		return errNotAccepted
	}
	f, err := os.Open(os.DevNull)
	if httpapi.IsOpenFiles(err) {
		return o.report(err)
	}
	if err == nil {
		_ = f.Close()
	}
	return nil
}

// report logs that there are too many open files: once a minute, as the log does with
// outages.
func (o *openFiles) report(err error) error {
	o.log.ErrorContext(context.Background(), "too many open files: connections, files and the database cannot be opened; raise the limit (LimitNOFILE, ulimit -n)",
		slog.Any("error", err))
	return err
}

// watchedListener tells of connections that are not accepted because there are too
// many open files. (net/http waits and tries again.)
type watchedListener struct {
	net.Listener
	files *openFiles
}

func (l watchedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if httpapi.IsOpenFiles(err) {
		l.files.missed.Store(l.files.now().UnixNano())
		return nil, l.files.report(err)
	}
	return c, err
}
