/** Schema is what forms know of JSON Schema; the x- members are those of the palette of flows. */
export interface Schema {
  type?: string | string[]
  title?: string
  description?: string
  default?: unknown
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  minItems?: number
  maxItems?: number
  maxProperties?: number
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  'x-kind'?: string
  'x-max'?: number
  'x-min'?: number
}

/** Path leads to a value: the names of members and the places in lists. */
export type Path = readonly (string | number)[]

export type Shape = 'text' | 'long' | 'number' | 'boolean' | 'choice' | 'choices' | 'object' | 'map' | 'list' | 'json'

/** Texts that may be longer than this get more than one line. */
const line = 1_000

/** shapeOf says what is asked for in which way. */
export function shapeOf(schema: Schema): Shape {
  if (schema.enum) return 'choice'
  switch (schema.type) {
    case 'string':
      return Math.max(schema.maxLength ?? 0, schema['x-max'] ?? 0) > line ? 'long' : 'text'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'array':
      if (!schema.items) return 'json'
      return schema.items.enum ? 'choices' : 'list'
    case 'object':
      if (schema.properties && Object.keys(schema.properties).length > 0) return 'object'
      return typeof schema.additionalProperties === 'object' ? 'map' : 'json'
    default:
      return 'json'
  }
}

/** blank is what stands in a member before anything is typed; undefined: nothing. */
export function blank(schema: Schema): unknown {
  switch (shapeOf(schema)) {
    case 'boolean':
      return schema.default === true
    case 'object':
      return (schema.required ?? []).reduce<Record<string, unknown>>((value, name) => {
        const member = schema.properties?.[name]
        const first = member && blank(member)
        return first === undefined ? value : { ...value, [name]: first }
      }, {})
    case 'text':
    case 'long':
      return ''
    case 'list':
    case 'choices':
      return []
    case 'map':
      return {}
    default:
      return undefined
  }
}

/** isRecord tells objects from lists and everything else. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** withMember is an object with another value of a member; undefined takes it away. Its order stays. */
export function withMember(value: unknown, name: string, member: unknown): Record<string, unknown> {
  const before = isRecord(value) ? value : {}
  if (member !== undefined) return { ...before, [name]: member }
  const { [name]: _, ...rest } = before
  return rest
}

/** read is the value that a text stands for: JSON if it is that, else the text itself; '' is none. */
export function read(text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    // A number that would come back as another is kept as it was typed.
    return typeof value === 'number' && String(value) !== text.trim() ? text : value
  } catch {
    return text
  }
}

/** write is a text that read takes for the value. */
export function write(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string' && (read(value) === value || value === '')) return value
  return JSON.stringify(value, null, isRecord(value) || Array.isArray(value) ? 2 : 0)
}

/** readNumber is the number that a text stands for; what is none stays a text, and is refused where it is used. */
export function readNumber(text: string): number | string | undefined {
  const typed = text.trim()
  if (typed === '') return undefined
  const value = Number(typed)
  return Number.isFinite(value) && (Number.isSafeInteger(value) || !/^-?\d+$/.test(typed)) ? value : text
}

/** moved is a list whose item has another place. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list]
  next.splice(to, 0, ...next.splice(from, 1))
  return next
}
