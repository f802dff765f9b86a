import createClient from 'openapi-fetch'
import { t } from '../text'
import type { components, paths } from './schema'

export type Schemas = components['schemas']

/** Where the server is: everything before /panel in the address. */
export const root = location.pathname.replace(/\/panel(\/.*)?$/, '')

/** FieldError says what is wrong with a part of a request: location is body.email. */
export interface FieldError {
  location: string
  message: string
  code?: string
  nodeId?: string
}

/** Problem is an answer of RFC 9457, or what stands for one when nothing answered. */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly errors: FieldError[]
  readonly retryAfter: number | null

  constructor(status: number, body: Partial<{ title: string; detail: string; code: string; errors: FieldError[] }>, retryAfter: string | null = null) {
    super(body.detail || body.title || `HTTP ${status}`)
    this.status = status
    this.code = body.code ?? (status === 0 ? 'offline' : 'unknown')
    this.errors = body.errors ?? []
    this.retryAfter = retryAfter === null ? null : Number(retryAfter) || null
  }

  /** at returns what is wrong with a member of the body, such as email. */
  at(member: string): string | undefined {
    const found = this.errors.find((e) => e.location === member || e.location === `body.${member}` || e.location === `query.${member}`)
    return found?.message
  }
}

type Listener = () => void
const expired = new Set<Listener>()

/** onExpired calls back when the session has ended. It returns what ends that. */
export function onExpired(listener: Listener): () => void {
  expired.add(listener)
  return () => expired.delete(listener)
}

/** api is the typed client of the whole API; see got for its answers. */
export const api = createClient<paths>({ baseUrl: root || location.origin, credentials: 'same-origin', fetch: reach })

async function reach(request: Request): Promise<Response> {
  try {
    return await fetch(request)
  } catch {
    throw new Problem(0, { detail: t('offline') })
  }
}

interface Answer<T> {
  data?: T
  error?: unknown
  response: Response
}

/** got is the body of an answer; anything but success is thrown as a Problem. */
export async function got<T>(asked: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await asked
  if (response.ok) return data as T
  if (response.status === 401 && !response.url.includes('/user/login')) expired.forEach((tell) => tell())
  const body = typeof error === 'object' && error !== null ? error : {}
  throw new Problem(response.status, body, response.headers.get('Retry-After'))
}
