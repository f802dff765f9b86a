import { isRecord } from '../../../ui/schema-form/schema'
import type { FlowNode } from './types'

// Which members of a configuration say in a line what a node does. The first of
// each group that is there is shown.
const told: Record<string, string[][]> = {
  agent: [['model'], ['instructions']],
  assistant: [['model'], ['instructions', 'input']],
  call: [['function']],
  condition: [['branches.0.when']],
  contact: [['ops.0.op'], ['ops.0.value', 'ops.0.name']],
  delay: [['for', 'until']],
  end: [['status']],
  event: [['name']],
  extract: [['method'], ['pattern', 'intents', 'entities', 'model']],
  flow: [['flow']],
  goto: [['node']],
  handoff: [['target', 'note']],
  http: [['method'], ['url']],
  loop: [['kind'], ['items', 'while', 'times']],
  message: [['text', 'media.caption', 'media.url', 'template.name', 'location.name', 'emoji', 'kind']],
  note: [['text']],
  question: [['prompt.text', 'prompt.media.caption', 'expect']],
  random: [['branches']],
  return: [['name'], ['value']],
  set: [['assign.0.var'], ['assign.0.op'], ['assign.0.value']],
  switch: [['value']],
  throw: [['code']],
  tool: [['server'], ['tool']],
  trigger: [['on.0.kind'], ['on.0.keywords', 'on.0.cron', 'on.0.event', 'on.0.payload']],
  wait: [['event']],
}

/** summary is what a node does, in a line; '' when nothing is configured. */
export function summary(node: FlowNode): string {
  const config = node.config ?? {}
  const groups = (Object.hasOwn(told, node.type) && told[node.type]) || Object.keys(config).map((name) => [name])
  const parts = groups.flatMap((group) => group.map((path) => short(at(config, path))).find((text) => text !== '') ?? [])
  return parts.join(' ').replace(/\s+/g, ' ').slice(0, 120)
}

function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((part, name) => (isRecord(part) ? part[name] : Array.isArray(part) ? part[Number(name)] : undefined), value)
}

function short(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.map((item) => short(isRecord(item) ? item.id : item)).filter(Boolean).join(', ')
  return isRecord(value) ? Object.keys(value).join(', ') : ''
}
