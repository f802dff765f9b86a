/**
 * Client of the Trunkline API. It needs fetch and WebCrypto, which Node 20, browsers, Deno and Bun have.
 */
export { Trunkline } from './client.js'
export type { Options, SendOptions, StreamOptions } from './client.js'
export { TrunklineError } from './error.js'
export type { FieldError } from './error.js'
export type { components, paths, webhooks } from './schema.js'
export type * from './types.js'
export { verifyWebhook, WebhookVerificationError } from './webhook.js'
export type { HeadersLike, VerifyOptions } from './webhook.js'
