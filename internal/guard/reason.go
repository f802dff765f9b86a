package guard

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// Reason returns a short text why a request got no answer, for the person who
// configured the target. It does not quote the error of the network: that names
// addresses and resolvers of this machine's network, and may quote the URL, which
// may contain a secret.
func Reason(err error) string {
	var name *net.DNSError
	var slow interface{ Timeout() bool }
	switch {
	case errors.Is(err, ErrRefused):
		return refusal("the target").Error()
	case errors.As(err, &name) && name.IsNotFound:
		return "the host was not found"
	case errors.Is(err, context.Canceled):
		return "the request was interrupted"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return "there was no answer in time"
	case name != nil:
		return "the name of the host could not be looked up"
	case isErrno(err, syscall.ECONNREFUSED, 10061):
		return "the connection was refused"
	case isErrno(err, syscall.ECONNRESET, 10054), isErrno(err, syscall.EPIPE, 10053):
		return "the connection was closed by the other side"
	case isErrno(err, syscall.EHOSTUNREACH, 10065), isErrno(err, syscall.ENETUNREACH, 10051):
		return "the host cannot be reached"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed without an answer"
	}
	return tlsReason(err)
}

// tlsReason returns why a target is not trusted or violates the protocol.
func tlsReason(err error) string {
	var unknown x509.UnknownAuthorityError
	var other x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var verify *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unknown):
		return "the certificate is signed by an unknown authority"
	case errors.As(err, &other):
		return "the certificate is for another name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired or is not yet valid"
	case errors.As(err, &invalid), errors.As(err, &verify):
		return "the certificate is not valid"
	case errors.As(err, &record), errors.As(err, &alert):
		return "the host does not speak TLS as it should"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "the host does not speak TLS as it should"
	case strings.Contains(err.Error(), "malformed"): // status line, version or header
		return "the answer is no HTTP"
	}
	return "the connection failed"
}

// isErrno reports whether err is an error of the operating system, by its name or
// by its number in Windows sockets.
func isErrno(err error, name, windows syscall.Errno) bool {
	return errors.Is(err, name) || errors.Is(err, windows)
}

// Network reports whether err is an error of a connection, whose text must not be
// shown to others.
func Network(err error) bool {
	var op *net.OpError
	var name *net.DNSError
	return errors.Is(err, ErrRefused) || errors.As(err, &op) || errors.As(err, &name)
}
