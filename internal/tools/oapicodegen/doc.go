// Package oapicodegen pins oapi-codegen, with which users generate Go clients from
// our OpenAPI document, and what its output imports. A test of server/client
// generates and compiles a client in a copy of this module.
package oapicodegen

import (
	_ "github.com/oapi-codegen/runtime"
	_ "github.com/oapi-codegen/runtime/types"
)
