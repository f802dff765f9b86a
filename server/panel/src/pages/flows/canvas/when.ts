import { isRecord, type Path, type Schema } from '../../../ui/schema-form/schema'

// Some members of a configuration mean something only with a certain value of
// another one. A form leaves them out as long as nothing stands in them.

type Rule = { by: string; of: Record<string, string[]>; otherwise?: string }

const media = ['image', 'video', 'audio', 'document', 'sticker']
const message: Rule = {
  by: 'kind',
  otherwise: 'text',
  of: {
    text: ['text', 'buttons', 'list', 'poll'],
    media,
    buttons: ['buttons'],
    button: ['list'],
    sections: ['list'],
    template: ['template'],
    location: ['location'],
    contacts: ['contacts'],
    emoji: ['reaction'],
    options: ['poll'],
    multiple: ['poll'],
  },
}

const rules: Record<string, Rule> = {
  message,
  'question.prompt': message,
  'handoff.message': message,
  question: { by: 'expect', otherwise: 'text', of: { choices: ['choice'], fuzzy: ['choice'] } },
  loop: { by: 'kind', of: { times: ['count'], items: ['each'], while: ['while'] } },
  extract: { by: 'method', of: { pattern: ['regex'], entities: ['entity'], intents: ['intent'], threshold: ['intent'], margin: ['intent'], schema: ['ai'], model: ['ai'] } },
  'http.body': { by: 'kind', otherwise: 'none', of: { value: ['json', 'form', 'multipart', 'text'] } },
  'trigger.on[]': {
    by: 'kind',
    of: { keywords: ['keyword'], match: ['keyword'], caseSensitive: ['keyword'], payload: ['button', 'referral'], cron: ['schedule'], timezone: ['schedule'], event: ['event'] },
  },
  'set.assign[]': { by: 'op', otherwise: 'set', of: { value: ['set', 'append', 'increment', 'merge'] } },
  'contact.ops[]': { by: 'op', of: { name: ['set_field'], value: ['add_tag', 'remove_tag', 'set_field', 'set_language'] } },
  'assistant.output': { by: 'mode', otherwise: 'text', of: { schema: ['json'], repair: ['json'] } },
  'agent.output': { by: 'mode', otherwise: 'text', of: { schema: ['json'], repair: ['json'] } },
}

/** kindOf is a path without places in lists, below the type of the node: trigger.on[].keywords. */
export function kindOf(type: string, path: Path): string {
  return path.reduce<string>((name, part) => (typeof part === 'number' ? `${name}[]` : `${name}.${part}`), type)
}

/** matters says whether a member of a configuration means something as the others are, or has a value. */
export function matters(type: string, config: unknown, path: Path): boolean {
  const name = path.at(-1)
  const rule = rules[kindOf(type, path.slice(0, -1))]
  if (typeof name !== 'string' || !rule) return true
  const values = rule.of[name]
  if (!values) return true
  const around = path.slice(0, -1).reduce<unknown>((part, step) => (Array.isArray(part) ? part[Number(step)] : isRecord(part) ? part[String(step)] : undefined), config)
  const members = isRecord(around) ? around : {}
  if (members[name] !== undefined) return true
  const by = members[rule.by] ?? rule.otherwise
  return typeof by !== 'string' || values.includes(by)
}

const first = new Set(['kind', 'method', 'expect', 'text', 'input', 'op'])

/** parted are the members of a schema that everybody needs, and those that can be left as they are. */
export function parted(schema: Schema, config: Record<string, unknown>): { main: Schema; more: Schema } {
  const part = (more: boolean): Schema => ({
    ...schema,
    properties: Object.fromEntries(
      Object.entries(schema.properties ?? {}).filter(([name, member]) => {
        const left = member.default !== undefined && !first.has(name) && !schema.required?.includes(name) && config[name] === undefined
        return left === more
      }),
    ),
  })
  return { main: part(false), more: part(true) }
}

/** words is what a member is called in a form: saveTo is Save to. */
export function words(name: string): string {
  const apart = name.replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`).replace(/_/g, ' ')
  return apart.charAt(0).toUpperCase() + apart.slice(1)
}

const worded = new WeakMap<object, Schema>()

/** titled is a schema whose members have titles. */
export function titled(schema: Schema): Schema {
  let made = worded.get(schema)
  if (!made) {
    made = { ...schema }
    if (schema.properties) made.properties = Object.fromEntries(Object.entries(schema.properties).map(([name, member]) => [name, { title: words(name), ...titled(member) }]))
    if (schema.items) made.items = titled(schema.items)
    if (isRecord(schema.additionalProperties)) made.additionalProperties = titled(schema.additionalProperties)
    worded.set(schema, made)
  }
  return made
}

/** fieldOf is the field of a form in which a value stands, by its JSON pointer: what a schema says nothing of stands in the field around it. */
export function fieldOf(schema: Schema, pointer: readonly string[]): string {
  const path: string[] = []
  let at: Schema | undefined = schema
  for (const part of pointer) {
    const next: Schema | undefined = at.properties?.[part] ?? at.items ?? (isRecord(at.additionalProperties) ? at.additionalProperties : undefined)
    if (!next) break
    path.push(part)
    at = next
  }
  return path.join('/')
}

/** parts are those of a JSON pointer. */
export const parts = (pointer: string) => pointer.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

/** fieldAt is the field of the form that a pointer into the document leads to; '': none. */
export function fieldAt(schema: Schema, pointer: string): string {
  const [, , member, ...deeper] = parts(pointer)
  if (member === 'config') return fieldOf(schema, deeper)
  if (member === 'next' && deeper[0] !== undefined) return `next/${deeper[0]}`
  return member === 'name' ? 'name' : ''
}
