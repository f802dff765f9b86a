import type { Schemas } from './types.js'

/** A value of the request that is wrong. */
export type FieldError = Schemas['FieldError']

/** A request that the server refused. */
export class TrunklineError extends Error {
  /** The HTTP status. */
  readonly status: number
  /** Which problem it is, such as `window_closed`; "" if the answer is not of a Trunkline server. */
  readonly code: string
  /** With the code `validation`: each wrong value and its place, such as `body.chatId`. */
  readonly fields: FieldError[]
  /** The id of the request, which the server's log has, too. */
  readonly requestId: string
  /** After how many seconds another attempt may succeed, if the server says so. */
  readonly retryAfter: number | undefined
  /** The answer: the problem as JSON, or text. */
  readonly body: unknown

  constructor(response: Response, body: unknown) {
    const problem = (typeof body === 'object' && body !== null ? body : {}) as Partial<Schemas['Problem']>
    const fields = problem.errors ?? []
    const detail = problem.detail || response.statusText || `HTTP status ${response.status}`
    super(fields[0] ? `${detail}: ${fields[0].location} ${fields[0].message}` : detail)
    this.name = 'TrunklineError'
    this.status = response.status
    this.code = problem.code ?? ''
    this.fields = fields
    this.requestId = response.headers.get('X-Request-Id') ?? ''
    const after = response.headers.get('Retry-After') ?? ''
    this.retryAfter = /^\d+$/.test(after) ? Number(after) : undefined
    this.body = body
  }
}
