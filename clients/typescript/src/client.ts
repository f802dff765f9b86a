import { TrunklineError } from './error.js'
import { lines } from './lines.js'
import type { Answer, Input, Item, Last, ListPath, Method, Operation, PathOf, Schemas, StreamEvent } from './types.js'

export interface Options {
  /** The server's address: `https://trunkline.internal`. */
  baseUrl: string
  /** Sent with each request: that of a log-in, or a scoped token. Signing up and logging in need none. */
  token?: string | undefined
  /** How often a request is repeated. Default: 3. 0: never. */
  retries?: number
  /** The pause before the first repetition, in milliseconds. It doubles with each. Default: 250. */
  pause?: number
  /** How long an attempt may take, in milliseconds. Streams are not limited. Default: 60000. */
  timeout?: number
  /** Makes the requests. Default: the global fetch. */
  fetch?: typeof fetch
}

export interface SendOptions {
  /** A send with a key that was used within 24 hours sends nothing and returns the first message. Default: a random key. */
  idempotencyKey?: string
  /** How long the server waits for the first attempt, in seconds. Default: 10. */
  wait?: number
  signal?: AbortSignal
}

export interface StreamOptions {
  /** Only events of this reference. Default: of all. */
  reference?: number
  /** The id of the last event that you received. Default: begin now. */
  after?: string
  /** Called each time the stream is open: events from now on are not missed. */
  onOpen?: () => void
  signal?: AbortSignal
}

/** A request, whatever its operation is. */
interface Request {
  path?: Record<string, unknown> | undefined
  query?: Record<string, unknown> | undefined
  headers?: Record<string, unknown> | undefined
  body?: unknown
  signal?: AbortSignal | undefined
}

/**
 * Calls a Trunkline server. What an operation needs and answers is typed by the API's document. A refusal
 * throws a TrunklineError.
 *
 * A request that the server refuses because there are too many (429) is repeated. After other passing
 * errors (502, 503, 504, a broken connection) only GET, PUT and requests with an idempotency key are, so that
 * nothing is done twice.
 */
export class Trunkline {
  readonly #options: Required<Omit<Options, 'token'>> & { token: string | undefined }

  constructor(options: Options) {
    const { baseUrl, token, retries = 3, pause = 250, timeout = 60_000 } = options
    const call = options.fetch ?? ((input: RequestInfo | URL, init?: RequestInit) => fetch(input, init))
    this.#options = { baseUrl: baseUrl.replace(/\/+$/, ''), token, retries, pause, timeout, fetch: call }
  }

  get<P extends PathOf<'get'>>(path: P, ...input: Last<Input<Operation<'get', P>>>): Promise<Answer<Operation<'get', P>>> {
    return this.#call('get', path, input[0])
  }

  post<P extends PathOf<'post'>>(path: P, ...input: Last<Input<Operation<'post', P>>>): Promise<Answer<Operation<'post', P>>> {
    return this.#call('post', path, input[0])
  }

  put<P extends PathOf<'put'>>(path: P, ...input: Last<Input<Operation<'put', P>>>): Promise<Answer<Operation<'put', P>>> {
    return this.#call('put', path, input[0])
  }

  patch<P extends PathOf<'patch'>>(path: P, ...input: Last<Input<Operation<'patch', P>>>): Promise<Answer<Operation<'patch', P>>> {
    return this.#call('patch', path, input[0])
  }

  delete<P extends PathOf<'delete'>>(path: P, ...input: Last<Input<Operation<'delete', P>>>): Promise<Answer<Operation<'delete', P>>> {
    return this.#call('delete', path, input[0])
  }

  /** Iterates over all items of a list, page by page. */
  async *all<P extends ListPath>(path: P, ...input: Last<Input<Operation<'get', P>>>): AsyncGenerator<Item<Operation<'get', P>>> {
    const given: Request = input[0] ?? {}
    for (let query = given.query; ; ) {
      const page = await this.#call<{ items: Item<Operation<'get', P>>[] | null; next?: string | null }>('get', path, { ...given, query })
      yield* page.items ?? []
      if (!page.next) return
      query = { ...query, cursor: page.next }
    }
  }

  /** Sends a message. The request has an idempotency key, so that a repetition sends nothing. */
  async send(message: Schemas['SendInputBody'], options: SendOptions = {}): Promise<Schemas['MessagingMessage']> {
    const { idempotencyKey = crypto.randomUUID(), wait, signal } = options
    const sent = await this.#call<Schemas['SendResult']>('post', '/chats/send', {
      body: message,
      query: { wait },
      headers: { 'Idempotency-Key': idempotencyKey },
      signal,
    })
    return sent.message
  }

  /**
   * Iterates over events in the order of their commits, until the loop is left or the signal aborts. A
   * broken stream continues behind the last event. An error that no repetition mends, such as a token that
   * is not valid any more, is thrown.
   */
  async *stream(options: StreamOptions = {}): AsyncGenerator<StreamEvent> {
    const { signal } = options
    const position = { after: options.after }
    for (let broken = 0; !signal?.aborted; broken++) {
      try {
        for await (const event of this.#follow(options, position)) {
          broken = 0
          yield event
        }
      } catch (error) {
        if (signal?.aborted) return
        if (error instanceof TrunklineError && error.status < 500 && error.status !== 429) throw error
        await this.#pause(broken, error, signal)
      }
    }
  }

  /** Reads one stream until it breaks. It keeps the position up to date. */
  async *#follow(options: StreamOptions, position: { after: string | undefined }): AsyncGenerator<StreamEvent> {
    const ended = new AbortController()
    const end = () => ended.abort()
    options.signal?.addEventListener('abort', end)
    try {
      const { url, init } = this.#prepare('get', '/chats/stream', {
        query: { reference: options.reference },
        headers: { Accept: 'text/event-stream', 'Last-Event-ID': position.after },
      })
      const response = await this.#options.fetch(url, { ...init, signal: ended.signal })
      if (!response.ok || !response.body) throw new TrunklineError(response, await read(response))
      let [open, type, data] = [false, '', '']
      for await (const line of lines(response.body, end)) {
        const [, name, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
        if (name === 'id') position.after = value
        else if (name === 'event') type = value
        else if (name === 'data') data += value
        if (line !== '') continue
        if (!open) options.onOpen?.()
        open = true
        if (type !== '') yield { id: position.after, type, data: JSON.parse(data) } as StreamEvent
        ;[type, data] = ['', '']
      }
      throw new Error('the stream ended')
    } finally {
      options.signal?.removeEventListener('abort', end)
      end()
    }
  }

  /** Makes a request, several times where that is safe, and reads its answer. */
  async #call<T>(method: Method, path: string, input: Request = {}): Promise<T> {
    const { retries, timeout } = this.#options
    const headers = { ...input.headers }
    if (path === '/chats/send') headers['Idempotency-Key'] ??= crypto.randomUUID()
    const repeatable = method === 'get' || method === 'put' || headers['Idempotency-Key'] !== undefined
    const { url, init } = this.#prepare(method, path, { ...input, headers })
    for (let attempt = 0; ; attempt++) {
      try {
        const limit = AbortSignal.timeout(timeout)
        const signal = input.signal ? AbortSignal.any([input.signal, limit]) : limit
        const response = await this.#options.fetch(url, { ...init, signal })
        const body = await read(response)
        if (!response.ok) throw new TrunklineError(response, body)
        return body as T
      } catch (error) {
        if (attempt >= retries || input.signal?.aborted || !passing(error, repeatable)) throw error
        await this.#pause(attempt, error, input.signal)
      }
    }
  }

  #prepare(method: Method, path: string, input: Request): { url: string; init: RequestInit } {
    const { baseUrl, token } = this.#options
    const headers = new Headers()
    for (const [name, value] of present(input.headers)) headers.set(name, String(value))
    if (token) headers.set('Authorization', `Bearer ${token}`)
    let body: BodyInit | null = null
    if (input.body instanceof FormData) body = input.body
    else if (input.body !== undefined) {
      body = JSON.stringify(input.body)
      headers.set('Content-Type', 'application/json')
    }
    const url = baseUrl + filled(path, input.path) + search(input.query)
    return { url, init: { method: method.toUpperCase(), headers, body, redirect: 'manual' } }
  }

  /** Waits as long as the server says, or else longer after each attempt. It ends early when signal aborts. */
  async #pause(attempt: number, error: unknown, signal: AbortSignal | undefined): Promise<void> {
    const grown = this.#options.pause * 2 ** Math.min(attempt, 6) * (1 + Math.random() / 2)
    const wait = error instanceof TrunklineError && error.retryAfter ? error.retryAfter * 1000 : grown
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, wait)
      function done() {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      signal?.addEventListener('abort', done)
      if (signal?.aborted) done()
    })
  }
}

/** Whether another attempt may help and does no harm. */
function passing(error: unknown, repeatable: boolean): boolean {
  if (!(error instanceof TrunklineError)) return repeatable && !(error instanceof SyntaxError)
  switch (error.status) {
    case 429:
      return (error.retryAfter ?? 0) <= 60
    case 409: // the first request with the key is still under way
      return repeatable && (error.retryAfter ?? 0) > 0
    case 502: // of a proxy; the server's own has a code
      return repeatable && error.code === ''
    case 503:
    case 504:
      return repeatable
  }
  return false
}

/** Reads a body: JSON or text; undefined if there is none. */
async function read(response: Response): Promise<unknown> {
  const text = await response.text()
  if (text === '') return undefined
  if (!/[/+]json\b/.test(response.headers.get('Content-Type') ?? '')) return text
  return JSON.parse(text)
}

/** Fills the parameters of a path. A value must not lead to another path. */
function filled(path: string, values: Record<string, unknown> = {}): string {
  return path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = String(values[name] ?? '')
    if (value === '' || value === '.' || value === '..') throw new TypeError(`${name} must not be ${JSON.stringify(value)}`)
    return encodeURIComponent(value)
  })
}

/** Writes a query. Lists are separated by commas. */
function search(values: Record<string, unknown> | undefined): string {
  const query = new URLSearchParams()
  for (const [name, value] of present(values)) query.set(name, String(value))
  const text = query.toString()
  return text && '?' + text
}

function present(values: Record<string, unknown> = {}): [string, unknown][] {
  return Object.entries(values).filter(([, value]) => value !== undefined && value !== null)
}
