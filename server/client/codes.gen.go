// Code generated from the OpenAPI document; DO NOT EDIT.

package client

// The codes of an [Error]. The list is open: a newer server may have more.
const (
	// A budget for language models is used up. Raise it, or wait for its next period.
	CodeBudgetExceeded = "budget_exceeded"
	// The chat id may name another contact: its digits are a hidden id (LID) and not a phone number.
	// Use the id that `errors` names.
	CodeChatIDAmbiguous = "chatId.ambiguous"
	// The present state does not allow the request. Read `detail`.
	CodeConflict = "conflict"
	// The caller lacks the permission, or a token of this kind is never allowed. Use a user or token
	// that has the permission.
	CodeForbidden = "forbidden"
	// The server failed. Its log has the cause under the request's id; report it.
	CodeInternal = "internal"
	// The user is the last owner of the account who can log in. Make another user an owner first.
	CodeLastOwner = "last_owner"
	// The object does not exist, or belongs to another account. Check the id.
	CodeNotFound = "not_found"
	// The passkey's counter of signatures decreased, so the passkey may have been copied; `detail`
	// names it. Log in another way, and remove it.
	CodePasskeyCopied = "passkey_copied"
	// The body is larger than the limit of the operation, which `detail` names. Send less.
	CodePayloadTooLarge = "payload_too_large"
	// The object has changed since the revision of `If-Match`. Fetch it again.
	CodePreconditionFailed = "precondition_failed"
	// A network, a model or another server refused or failed. `detail` has its own words.
	CodeProviderError = "provider_error"
	// The account has made too many requests. Try again after `Retry-After`.
	CodeQuotaAPI = "quota.api"
	// The account has reached its number of contacts. Contacts who write first are not refused. Ask
	// the operator of the server.
	CodeQuotaContacts = "quota.contacts"
	// The account has sent its number of messages for this day in UTC. Send again after `Retry-After`.
	CodeQuotaMessages = "quota.messages"
	// The account has reached its number of references. Delete one, or ask the operator of the server.
	CodeQuotaReferences = "quota.references"
	// The account has begun its number of runs for this day in UTC. Begin again after `Retry-After`.
	CodeQuotaRuns = "quota.runs"
	// The account has reached its bytes of stored files and published versions. Delete chats, files of
	// projects, flows or bots, or ask the operator of the server.
	CodeQuotaStorage = "quota.storage"
	// There were too many requests. Try again after `Retry-After`.
	CodeRateLimited = "rate_limited"
	// The body arrived too slowly. Send the request again.
	CodeRequestTimeout = "request_timeout"
	// The password is right, and the user has a second factor. Send the same request with `code`. With
	// `errors`, the code was wrong or already used.
	CodeSecondFactorRequired = "second_factor_required"
	// The reference is not connected to its network. Start its session.
	CodeSessionNotConnected = "session_not_connected"
	// The request has no token or cookie, or it is no longer valid. Log in again.
	CodeUnauthorized = "unauthorized"
	// The server cannot do this now: it has no space, is about to stop, or waits for another system.
	// Try again.
	CodeUnavailable = "unavailable"
	// The reference, its network or this server does not support the request. Read `detail`.
	CodeUnsupported = "unsupported"
	// The operation does not accept the body's media type. Send the type that the operation documents.
	CodeUnsupportedMediaType = "unsupported_media_type"
	// A value of the request breaks a rule; `errors` names each. With 400 the body is not valid JSON,
	// or is missing. Correct the request.
	CodeValidation = "validation"
	// The contact has not written within the network's window. Send a template.
	CodeWindowClosed = "window_closed"
)
