// Code generated from the OpenAPI document; DO NOT EDIT.

package client

// The codes of an [Error]. The list is open: a newer server may have more.
const (
	// A budget for language models is used up.
	CodeBudgetExceeded = "budget_exceeded"
	// The chat id may name somebody else than is meant, as digits that are a hidden id (LID) and no
	// phone number; `errors` names the right id.
	CodeChatIDAmbiguous = "chatId.ambiguous"
	// What is there does not allow it; `detail` says why.
	CodeConflict = "conflict"
	// The caller lacks the permission, or a token of this kind never suffices.
	CodeForbidden = "forbidden"
	// Something went wrong; the server's log has it under the request's id.
	CodeInternal = "internal"
	// The user is the last owner of the account who may log in: make another user an owner first.
	CodeLastOwner = "last_owner"
	// What the request names is not there, or is another account's.
	CodeNotFound = "not_found"
	// The passkey's counter of signatures went back, so that another may have signed with the same
	// key; `detail` names it. Log in another way, and remove it.
	CodePasskeyCopied = "passkey_copied"
	// The body is larger than the operation takes; `detail` says how much that is.
	CodePayloadTooLarge = "payload_too_large"
	// Somebody has changed it since the revision of `If-Match`: fetch it again.
	CodePreconditionFailed = "precondition_failed"
	// A network, a model or another server that was asked refused or failed; `detail` has its own
	// words.
	CodeProviderError = "provider_error"
	// The account has made too many requests; `Retry-After` says when to try again.
	CodeQuotaAPI = "quota.api"
	// The account has as many contacts as it may have. Who writes first is not refused.
	CodeQuotaContacts = "quota.contacts"
	// The account has sent as many messages as it may send in a day in UTC; `Retry-After` says when
	// there are more.
	CodeQuotaMessages = "quota.messages"
	// The account has as many references as it may have: delete one, or ask the operator of the
	// server.
	CodeQuotaReferences = "quota.references"
	// The account has begun as many runs as it may begin in a day in UTC; `Retry-After` says when
	// there are more.
	CodeQuotaRuns = "quota.runs"
	// The account keeps as many bytes of files and versions as it may keep: delete chats, files of
	// projects, flows or bots, or ask the operator of the server.
	CodeQuotaStorage = "quota.storage"
	// Too much was asked for; `Retry-After` says when to try again.
	CodeRateLimited = "rate_limited"
	// The body came too slowly.
	CodeRequestTimeout = "request_timeout"
	// The password is right, and the user has a second factor: send the same request with `code`. With
	// `errors`, the code was wrong or used.
	CodeSecondFactorRequired = "second_factor_required"
	// The line is not connected to its network: start its session.
	CodeSessionNotConnected = "session_not_connected"
	// There is no token or cookie, or it is valid no more: log in again.
	CodeUnauthorized = "unauthorized"
	// The server cannot do it now: it has no room, is about to stop, or waits for another. Try again.
	CodeUnavailable = "unavailable"
	// The line, its network or this server cannot do that.
	CodeUnsupported = "unsupported"
	// The body is of another media type than the operation takes.
	CodeUnsupportedMediaType = "unsupported_media_type"
	// A value of the request breaks a rule; `errors` names each. With 400 the body is not valid JSON,
	// or there is none.
	CodeValidation = "validation"
	// The contact has not written for so long that the network takes nothing but templates.
	CodeWindowClosed = "window_closed"
)
