// Package view holds the bodies of the API of package server that stand within
// other bodies: the schemas are made of exported types only, and no one else is
// to depend on these.
package view
