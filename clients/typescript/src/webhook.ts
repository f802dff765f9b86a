import type { WebhookEvent } from './types.js'

/** A delivery that must not be trusted. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

/** Headers of a request: those of fetch, of node:http, or an object. */
export type HeadersLike = { get(name: string): string | null } | Record<string, string | string[] | undefined>

export interface VerifyOptions {
  /** How far the delivery's time may be from this computer's, in seconds. Default: 300. */
  tolerance?: number
}

/**
 * Verifies a delivery as Standard Webhooks says, and returns its event. The body must be the bytes that
 * were received. Throws a WebhookVerificationError if no signature is by the secret ("whsec_…"), or the
 * delivery is too old.
 */
export async function verifyWebhook(headers: HeadersLike, body: string | Uint8Array, secret: string, options: VerifyOptions = {}): Promise<WebhookEvent> {
  const id = header(headers, 'webhook-id')
  const at = header(headers, 'webhook-timestamp')
  if (id === '' || !/^\d{1,15}$/.test(at)) throw new WebhookVerificationError('the delivery has no id or no time')
  if (Math.abs(Date.now() / 1000 - Number(at)) > (options.tolerance ?? 300)) throw new WebhookVerificationError('the delivery is too old or from the future')
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signed = joined(new TextEncoder().encode(`${id}.${at}.`), bytes)
  const key = await crypto.subtle.importKey('raw', decoded(secret.replace(/^whsec_/, '')), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  let verified = false
  for (const one of header(headers, 'webhook-signature').split(' ')) {
    const [version, signature] = one.split(',')
    if (version !== 'v1' || signature === undefined) continue
    let given
    try {
      given = decoded(signature)
    } catch {
      continue // not base64
    }
    // verify compares in constant time.
    if (await crypto.subtle.verify('HMAC', key, given, signed)) verified = true
  }
  if (!verified) throw new WebhookVerificationError('no signature is by this secret')
  const type = header(headers, 'x-trunkline-event')
  return { id, type, timestamp: new Date(Number(at) * 1000), data: JSON.parse(new TextDecoder().decode(bytes)) } as WebhookEvent
}

function header(headers: HeadersLike, name: string): string {
  if (typeof headers.get === 'function') return headers.get(name) ?? ''
  for (const [key, value] of Object.entries(headers)) {
    if (key.toLowerCase() === name && typeof value === 'string') return value
  }
  return ''
}

function decoded(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(a.length + b.length)
  out.set(a)
  out.set(b, a.length)
  return out
}
