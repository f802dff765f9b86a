// Package httpapi declares the operations of the REST API: their routes,
// permissions, inputs and answers, the problems that they refuse with, and the
// OpenAPI document that follows from all of these. It knows no service: a
// resource registers its operations with [Register], and the server gives an
// [API] what depends on services in [Options].
package httpapi
