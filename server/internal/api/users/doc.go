// Package users answers what the REST API is asked about users: how they sign
// up and sign in, their sessions and tokens, and the users of an account.
package users
