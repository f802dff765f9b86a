import type { components, paths, webhooks } from './schema.js'

/** The schemas of the API's document by their names: `Schemas['MessagingMessage']`. */
export type Schemas = components['schemas']

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The paths that have an operation with a method. */
export type PathOf<M extends Method> = { [P in keyof paths]: undefined extends paths[P][M] ? never : P }[keyof paths] & string

/** The operation with a method at a path. */
export type Operation<M extends Method, P extends PathOf<M>> = NonNullable<paths[P][M]>

type Part<Name extends string, T> = [T] extends [undefined] ? unknown : {} extends T ? { [N in Name]?: T } : { [N in Name]: T }

type Parameters<O, In extends string> = O extends { parameters: { [I in In]?: infer T } } ? NonNullable<T> : never

type Content<C> = C extends { 'application/json': infer T } ? T : C extends { 'multipart/form-data': unknown } ? FormData : never

type Body<O> = O extends { requestBody: { content: infer C } }
  ? { body: Content<C> }
  : O extends { requestBody?: { content: infer C } }
    ? { body?: Content<C> }
    : unknown

/** What a request may have, whatever its operation is. */
export interface Common {
  /** Ends the request, and the pauses between its attempts. */
  signal?: AbortSignal
}

/** The parameters and the body of an operation. */
export type Input<O> = Part<'path', Parameters<O, 'path'>> &
  Part<'query', Parameters<O, 'query'>> &
  Part<'headers', Parameters<O, 'header'>> &
  Body<O> &
  Common

/** The last argument of a call, which may be left out if nothing in it is required. */
export type Last<I> = {} extends I ? [input?: I] : [input: I]

type Success = 200 | 201 | 202 | 203 | 204 | 206

type Text = { 'text/plain': unknown } | { 'text/csv': unknown }

type Answered<R> = R extends { content: infer C } ? (C extends { 'application/json': infer T } ? T : C extends Text ? string : undefined) : undefined

/** What an operation answers when it succeeds. */
export type Answer<O> = O extends { responses: infer R } ? { [S in keyof R & Success]: Answered<R[S]> }[keyof R & Success] : never

/** The item of a list that has pages. */
export type Item<O> = Answer<O> extends { items: (infer T)[] | null; next?: string | null } ? T : never

/** The paths of lists that have pages. */
export type ListPath = { [P in PathOf<'get'>]: Cursor<Operation<'get', P>> extends true ? P : never }[PathOf<'get'>]

type Cursor<O> = [Parameters<O, 'query'>] extends [never] ? false : 'cursor' extends keyof Parameters<O, 'query'> ? true : false

type Payload<K extends keyof webhooks> = webhooks[K] extends { post: { requestBody: { content: { 'application/json': infer T } } } } ? T : never

/** An event as a webhook receives it. `type` says what `data` is. */
export type WebhookEvent = {
  [K in keyof webhooks]: {
    /** The same in every attempt and replay: process each id once. */
    id: string
    type: K
    /** When this attempt was signed. */
    timestamp: Date
    data: Payload<K>
  }
}[keyof webhooks]

/** An event of the stream. A newer server may have more types: ignore those that you do not know. */
export type StreamEvent = {
  /** The position in the stream: `after` continues behind it. */
  id: string
} & (
  | { type: 'message' | 'status'; data: Schemas['MessagingMessage'] }
  | { type: 'session'; data: Schemas['MessagingSession'] }
  | { type: 'chat'; data: Schemas['MessagingChat'] | { reference: number; chatId: string; mergedFrom: string } }
  | { type: 'delivery'; data: DeliveryAttempt }
  | { type: 'resync'; data: { reference?: number } }
)

/** An attempt to deliver an event to a webhook. */
export interface DeliveryAttempt {
  reference: number
  endpointId: string
  deliveryId: string
  event: string
  chatId?: string
  messageId?: string
  state: string
  statusCode: number
  attempt: number
  /** UNIX seconds. */
  at: number
}
