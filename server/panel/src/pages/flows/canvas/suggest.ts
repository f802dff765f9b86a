import { isRecord, type Schema } from '../../../ui/schema-form/schema'
import type { Flow, NodeType } from './types'

const always = ['contact.name', 'contact.phone', 'contact.language', 'contact.tags', 'contact.fields', 'input.text', 'input.type', 'chat.id', 'chat.reference', 'chat.variables', 'run.id', 'run.startedAt', 'now']

/** variables are the names under vars: those that are declared, and those that nodes write. */
export function variables(flow: Flow, types: ReadonlyMap<string, NodeType>): string[] {
  const names = new Set(Object.keys(isRecord(flow.variables) ? flow.variables : {}))
  for (const { type, config } of Object.values(flow.nodes)) {
    // What a loop calls its item is seen in its body, but it is no variable.
    const { item: _, index: __, ...rest } = config ?? {}
    written(type === 'loop' ? rest : config, types.get(type)?.config as Schema | undefined, names)
  }
  return [...names].sort()
}

/** written adds the variables that stand where a schema says that one is written. */
function written(value: unknown, schema: Schema | undefined, names: Set<string>) {
  if (!schema) return
  const kind = schema['x-kind']
  if (typeof value === 'string' && (kind === 'variable' || kind === 'path')) {
    const name = /^[a-z_][a-z0-9_]*/.exec(value)?.[0]
    if (name) names.add(name)
  }
  if (Array.isArray(value)) value.forEach((item) => written(item, schema.items, names))
  else if (isRecord(value)) for (const [name, member] of Object.entries(value)) written(member, schema.properties?.[name], names)
}

/** seen are the values that expressions of a flow may name. */
export function seen(flow: Flow, types: ReadonlyMap<string, NodeType>): string[] {
  const args = Object.keys(isRecord(flow.args) ? flow.args : {})
  const loops = Object.values(flow.nodes).filter((node) => node.type === 'loop')
  const items = loops.flatMap((node) => [node.config?.item ?? 'item', node.config?.index ?? 'index']).filter((name) => typeof name === 'string')
  return [...new Set([...variables(flow, types).map((name) => `vars.${name}`), ...args.map((name) => `args.${name}`), ...items, ...always])]
}

/** Typed is the beginning of a name in a text, where the cursor stands. */
export interface Typed {
  from: number
  to: number
  word: string
}

/**
 * wordAt is the name that is being typed at a place of a text; undefined: none.
 * In a template names stand between double braces.
 */
export function wordAt(text: string, at: number, template: boolean): Typed | undefined {
  const before = text.slice(0, at)
  if (template) {
    const open = before.lastIndexOf('{{')
    if (open < 0 || before.indexOf('}}', open) >= 0) return undefined
  }
  const word = /[A-Za-z_][\w.]*$/.exec(before)?.[0] ?? ''
  if (word === '' && !(template && /\{\{\s*$/.test(before))) return undefined
  return { from: at - word.length, to: at, word }
}

/** offers are the names that begin as a word does, or hold it; at most 8. */
export function offers(names: readonly string[], word: string): string[] {
  const wish = word.toLowerCase()
  const begin = names.filter((name) => name.toLowerCase().startsWith(wish))
  const hold = names.filter((name) => !begin.includes(name) && name.toLowerCase().includes(wish))
  return [...begin, ...(wish ? hold : [])].filter((name) => name !== word).slice(0, 8)
}

/** complete is a text with a name in the place of what was typed, and where the cursor stands then. */
export function complete(text: string, typed: Typed, name: string, template: boolean): { text: string; at: number } {
  const after = text.slice(typed.to)
  const space = template && /\{\{$/.test(text.slice(0, typed.from)) ? ' ' : ''
  const end = template && !/^[^{]*\}\}/.test(after) ? ' }}' : ''
  const put = space + name
  return { text: text.slice(0, typed.from) + put + end + after, at: typed.from + put.length + end.length }
}
